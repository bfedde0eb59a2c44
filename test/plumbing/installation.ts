import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '#server/database/connection/db.ts'
import { migrate } from '#server/database/connection/migrate.ts'
import { startEmbedded } from '#server/database/embedded/embedded.ts'
import { RUNNING_AS_WORKER } from '#server/lib/log-lines.ts'
import { createLog } from '#server/lib/log.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { watch, type WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { makeClusterFolder, prepareCluster } from './prepared-cluster.ts'
import { COMPILED, FLAGS, type ServerProcess, startServer } from './server-process.ts'

export const SECRET = 'a secret for tests only'
const MANY = '1000000000'
/** Settings under which no limit of requests is reached. */
export const UNLIMITED = {
  LOAM_RATE_LIMIT_PER_MINUTE: MANY,
  LOAM_RATE_LIMIT_PER_DAY: MANY,
  LOAM_OVERLOAD_MS: '0',
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/** Changes to how the servers of an installation are started. */
export type ServerStart = { env?: Record<string, string>; flags?: readonly string[] }

/**
 * Opens an embedded PostgreSQL with its ordinary settings, owned by this program, and Loam processes on it.
 */
export async function openInstallation(start: ServerStart = {}) {
  const folder = makeClusterFolder('installation')
  const dataDir = join(folder, 'data')
  prepareCluster(dataDir)
  const postgres = await startEmbedded({ dataDir, log: () => {} })
  await migrate(postgres.url, () => {})
  const store = openStore({ url: postgres.url, log: createLog('silent') })
  const started: { child: ServerProcess['child']; ended: Promise<unknown> }[] = []
  const killAll = () => {
    for (const { child } of started) child.kill('SIGKILL')
  }
  // A program that fails before it closes the installation leaves no process behind.
  process.once('exit', killAll)
  /** Registers a process that is ended with the installation, whatever state it is in. */
  const track = <Started extends (typeof started)[number]>(one: Started): Started => {
    started.push(one)
    return one
  }
  const postgresPid = () =>
    Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const { LOAM_WITHOUT = '' } = process.env
  const environment = {
    LOAM_WITHOUT,
    DATABASE_URL: postgres.url,
    LOAM_SECRET: SECRET,
    LOAM_DATA_DIR: join(folder, 'server'),
    LOAM_LOG_LEVEL: 'warn',
    LOAM_EGRESS_ALLOW: '127.0.0.1',
    ...UNLIMITED,
  }

  return {
    folder,
    dataDir,
    store,
    databaseUrl: postgres.url,
    track,
    makeOrg: (name: string, initialCredits = 0) =>
      createOrganisation(store.system, OPERATOR, { name, adminEmail: 'admin@example.com', initialCredits }),
    /** Starts a process that serves requests and runs rows, unless `LOAM_ROLES` says otherwise. */
    async startServer(env: Record<string, string> = {}, { flags = FLAGS } = start): Promise<ServerProcess> {
      const command = [process.execPath, ...flags, 'server/src/main.ts']
      const server = track(await startServer({ ...environment, ...start.env, ...env }, command))
      if (server.url === '') throw new Error(`the server did not start: ${server.stderr()}`)
      return server
    },
    /** Starts a process that only runs rows, and waits until it takes jobs. */
    async startWorker(env: Record<string, string> = {}): Promise<WorkerChild> {
      const { PATH = '' } = process.env
      const base = { ...environment, ...start.env, PATH, NODE_COMPILE_CACHE: COMPILED }
      const settings = { ...base, LOAM_ROLES: 'worker', LOAM_LOG_LEVEL: 'info', ...env }
      const child = spawn(process.execPath, ['server/src/main.ts'], { env: settings })
      return track(await watch(child, RUNNING_AS_WORKER))
    },
    postgresPid,
    signalPostgres(signal: NodeJS.Signals): void {
      process.kill(postgresPid(), signal)
    },
    /** Ends all running processes and removes everything. */
    async close(): Promise<void> {
      process.off('exit', killAll)
      killAll()
      await Promise.all(started.map(({ ended }) => ended))
      await store.close()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
