import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '#server/database/connection/migrate.ts'
import { type Embedded, startEmbedded } from '#server/database/embedded/embedded.ts'
import { makeRunFolder, offerCluster, prepareCluster } from './prepared-cluster.ts'

const execute = promisify(execFile)

export const TEMPLATE = 'loam_test_template'

/** A PostgreSQL server in which tests may create databases. */
export type Target = { name: string; url: string }

declare module 'vitest' {
  export interface ProvidedContext {
    targets: Target[]
  }
}

/**
 * Starts the embedded PostgreSQL, and Debian's if it is installed, each with a migrated template database.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeRunFolder()
  const [embedded, debian] = await Promise.all([startPrepared(folder), startDebian(join(folder, 'debian'))])
  const targets = [{ name: 'embedded', url: embedded.url }, ...(debian === null ? [] : [debian.target])]
  await Promise.all(targets.map(({ url }) => makeTemplate(url)))
  project.provide('targets', targets)
  return async () => {
    await Promise.all([embedded.stop(), debian?.stop()])
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Prepares the data folder that tests copy, and starts the embedded PostgreSQL on a copy of it. */
async function startPrepared(folder: string): Promise<Embedded> {
  const prepared = join(folder, 'prepared')
  const first = await startEmbedded({ dataDir: prepared, log: () => {} })
  await migrate(first.url, () => {})
  await first.stop()
  offerCluster(prepared)
  prepareCluster(join(folder, 'embedded'))
  const embedded = await startEmbedded({ dataDir: join(folder, 'embedded'), log: () => {} })
  await forgoDurability(embedded.url)
  return embedded
}

/**
 * Turns durability off. No data outlives the run, and waiting for the disk would be most of the cost of a new
 * database.
 */
async function forgoDurability(url: string): Promise<void> {
  const asSuperuser = new URL(url)
  asSuperuser.username = 'postgres'
  const client = new pg.Client({ connectionString: asSuperuser.toString() })
  await client.connect()
  for (const setting of ['fsync', 'full_page_writes']) await client.query(`alter system set ${setting} = off`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

async function makeTemplate(url: string): Promise<void> {
  // A database cannot be copied while somebody is connected to it.
  const client = new pg.Client({ connectionString: databaseUrl(url, 'postgres') })
  await client.connect()
  await client.query(`create database ${TEMPLATE} template loam`)
  await client.end()
  await migrate(databaseUrl(url, TEMPLATE), () => {})
}

export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.toString()
}

const DEBIAN = '/usr/lib/postgresql'

/**
 * Starts the second target: the PostgreSQL server that Debian has installed, if any, on a temporary cluster.
 */
async function startDebian(folder: string): Promise<{ target: Target; stop: () => Promise<unknown> } | null> {
  const version = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort().at(-1) : undefined
  const bin = join(DEBIAN, version ?? '', 'bin')
  if (version === undefined || !existsSync(join(bin, 'initdb'))) return null
  const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  execFileSync('mkdir', ['-m', '0777', '-p', folder])
  const cluster = join(folder, 'cluster')
  const run = (program: string, args: string[]) =>
    execute(join(bin, program), args, { ...asNobody, env: { LC_ALL: 'C' }, cwd: folder })
  await run('initdb', [
    '-D',
    cluster,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ])
  await run('pg_ctl', [
    '-D',
    cluster,
    '-w',
    '-l',
    join(folder, 'log'),
    '-o',
    `-c listen_addresses='' -c unix_socket_directories=${folder} -c fsync=off -c max_connections=200`,
    'start',
  ])
  endWithUs(join(cluster, 'postmaster.pid'), asNobody)
  // An ordinary role, as in the embedded server: row-level security does not bind a superuser.
  const makeRole = 'create role loam login createdb'
  await run('psql', ['-h', folder, '-U', 'postgres', '-c', makeRole])
  await run('createdb', ['-h', folder, '-U', 'postgres', '-O', 'loam', 'loam'])
  return {
    target: {
      name: `Debian's PostgreSQL ${version}`,
      url: `postgresql://loam@localhost/loam?host=${encodeURIComponent(folder)}`,
    },
    stop: () => run('pg_ctl', ['-D', cluster, '-m', 'immediate', 'stop']),
  }
}

/**
 * Stops the server when this process ends, even if the test run is killed: then the watcher's standard input
 * ends.
 */
function endWithUs(pidFile: string, account: { uid?: number; gid?: number }): void {
  const watch = 'read -r _; kill -QUIT "$(head -n 1 "$1")"'
  const watcher = spawn('sh', ['-c', watch, 'sh', pidFile], {
    ...account,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  if (watcher.stdin instanceof Socket) watcher.stdin.unref()
}
