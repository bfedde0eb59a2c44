import {
  chownSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../lib/errors.ts'
import { type Account, canEnter, currentAccount, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { canReachDataDir, openSpareDir } from './data-dir.ts'

type Options = { dataDir: string; account: Account; binaries: Binaries; log: (line: string) => void }

/**
 * Returns the folder of the database files: `<dataDir>/postgres`, or the target of that link. Creates the folder if there is
 * none.
 */
export async function openCluster(options: Options): Promise<string> {
  const { dataDir, account, binaries } = options
  const place = join(dataDir, 'postgres')
  const reachable = await canReachDataDir(account, dataDir)
  if (!lstatSync(place, { throwIfNoEntry: false })) await createCluster(place, reachable, options)
  const cluster = resolveCluster(place)

  const owner = statSync(cluster).uid
  if (owner !== account.uid)
    throw new Error(
      `The database files in ${cluster} belong to the user with id ${owner}, not ${account.uid}: ` +
        'start Loam as the user that created them.',
    )
  if (!(await canEnter(account, cluster)))
    throw new Error(
      `The user with id ${account.uid}, which runs PostgreSQL because Loam was started as root, cannot reach ` +
        `${cluster}: open its parent folders to it, or start Loam as an ordinary user.`,
    )
  const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (version !== binaries.major)
    throw new Error(
      `The database in ${cluster} was made by PostgreSQL ${version} and this Loam has PostgreSQL ` +
        `${binaries.major}: make a backup with the Loam that made it and restore it with this one.`,
    )
  return cluster
}

function resolveCluster(place: string): string {
  try {
    return realpathSync(place)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new Error(
      `The database files are missing: ${place} points to ${readlinkSync(place)}, which does not exist. ` +
        `Bring that folder back, or remove the link to begin with an empty database.`,
      { cause: error },
    )
  }
}

/**
 * Creates the database files under another name first, so that a start that is killed half way leaves nothing that looks like
 * a database.
 */
async function createCluster(
  place: string,
  reachable: boolean,
  { dataDir, account, binaries, log }: Options,
) {
  for (const name of readdirSync(dataDir))
    if (name.startsWith('postgres.new-')) await removeFolder(join(dataDir, name))
  const unfinished = mkdtempSync(
    reachable ? `${place}.new-` : join(openSpareDir(account, dataDir), 'cluster-'),
  )
  log(
    `creating the database in ${reachable ? place : `${unfinished}, as ${dataDir} is closed to PostgreSQL's user`}`,
  )
  chownSync(unfinished, account.uid, account.gid)
  const made = await runAs(account, binaries.initdb, [
    `--pgdata=${unfinished}`,
    '--username=postgres',
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ])
  if (!made.ok) {
    await removeFolder(unfinished)
    throw new Error(`PostgreSQL could not create its database files: ${made.output}`)
  }
  if (reachable) renameSync(unfinished, place)
  else symlinkSync(unfinished, place)
  const folder = openSync(dataDir, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/**
 * Removes a folder with `rm`, which never leaves the folder even while the owner of the files changes them; Node's own
 * function could. It retries for 10 seconds: the initdb of a start that was killed may still be writing, and ends once its
 * files are gone.
 */
async function removeFolder(dir: string): Promise<void> {
  const deadline = Date.now() + 10_000
  for (;;) {
    const removed = await runAs(currentAccount(), 'rm', ['-rf', '--', dir])
    if (removed.ok) return
    if (Date.now() > deadline)
      throw new Error(`The unfinished ${dir} could not be removed: ${removed.output}`)
    await sleep(50)
  }
}
