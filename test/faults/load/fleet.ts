import { setTimeout as sleep } from 'node:timers/promises'
import { startWorkerChild, type WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { SECRET } from '#test/plumbing/installation.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import type { openInstallation } from '../checks/installation.ts'

type Installation = Awaited<ReturnType<typeof openInstallation>>
type Settings = { random: () => number; silenceMs: number }

/**
 * Starts an API and two workers in separate processes on one PostgreSQL. Each of them can be killed with -9
 * and is started again.
 */
export async function startFleet(
  installation: Pick<Installation, 'databaseUrl' | 'folder' | 'killPostgres'>,
  { random, silenceMs }: Settings,
) {
  const { databaseUrl, folder, killPostgres } = installation
  const workers: WorkerChild[] = []
  let api: ServerProcess | undefined
  const ending = new AbortController()

  async function startWorker(index: number): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        workers[index] = await startWorkerChild(databaseUrl, { concurrency: 200, silenceMs })
        return
      } catch {
        // The process could not reach the database while it was down. A supervisor starts it again.
        await sleep(500)
      }
    }
  }
  async function startApi(): Promise<void> {
    do {
      api = await startServer({
        DATABASE_URL: databaseUrl,
        LOAM_SECRET: SECRET,
        LOAM_ROLES: 'api',
        LOAM_DATA_DIR: `${folder}/api`,
        LOAM_LOG_LEVEL: 'error',
      })
    } while (api.url === '' && !ending.signal.aborted)
  }
  const startAll = () => Promise.all([startApi(), startWorker(0), startWorker(1)])

  const victims = [
    {
      name: 'a worker',
      async kill() {
        const index = random() < 0.5 ? 0 : 1
        workers[index]?.child.kill('SIGKILL')
        await startWorker(index)
      },
    },
    {
      name: 'the API',
      async kill() {
        await api?.stop('SIGKILL')
        await startApi()
      },
    },
    {
      name: 'PostgreSQL',
      async kill() {
        killPostgres()
        // Workers outlive PostgreSQL. Workers that were just starting are started again.
        await sleep(100)
      },
    },
    {
      name: 'all',
      async kill() {
        for (const worker of workers) worker.child.kill('SIGKILL')
        killPostgres()
        await api?.stop('SIGKILL')
        await startAll()
      },
    },
  ]

  await startAll()
  return {
    apiUrl: () => api?.url ?? '',
    /** Kills one of them, or all. Returns the name of the victim once it has been started again. */
    async killSome(): Promise<string> {
      const victim = victims[Math.floor(random() * victims.length)]
      if (victim === undefined) throw new Error('there is nothing to kill')
      await victim.kill()
      return victim.name
    },
    async end(): Promise<void> {
      ending.abort()
      for (const worker of workers) worker.child.kill('SIGKILL')
      await api?.stop('SIGKILL')
    },
  }
}
