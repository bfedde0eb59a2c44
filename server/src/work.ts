import { createSandbox } from './catalog/formula/sandbox.ts'
import { createModels } from './catalog/models/models.ts'
import type { Catalogue } from './catalog/registry.ts'
import { createEngine } from './engine/engine.ts'
import { startWorker } from './engine/worker.ts'
import { exportJobs } from './files/export-job.ts'
import { fileSweepJob } from './files/file-sweep.ts'
import { importJob } from './files/import-job.ts'
import type { Storage } from './files/storage.ts'
import type { Config } from './lib/config/config.ts'
import { createEgress } from './lib/egress/egress.ts'
import { egressSettings } from './lib/egress/settings.ts'
import type { Job } from './lib/job.ts'
import type { Log } from './lib/log.ts'
import { mailSettings } from './lib/mail.ts'
import type { Sealer } from './lib/security/secrets.ts'
import { createRunEnvironment } from './org/run-environment.ts'
import { runPurger } from './rows/purger.ts'
import { runScheduler } from './runs/scheduler.ts'
import { webhookSweep } from './runs/webhook-sweep.ts'
import { shortcutSweep } from './shortcuts/sweep.ts'
import { openStore, type Store } from './store/connection/db.ts'
import { forgetOldWindows } from './store/organisation/admission.ts'
import { forgetOldCalls } from './store/organisation/idempotency.ts'

const SWEEP_MS = 10 * 60_000

export type WorkParts = {
  config: Config
  log: Log
  store: Store
  storage: Storage
  sealer: Sealer
  databaseUrl: string
  catalogue: Catalogue
  /** A worker process that is silent for longer is taken for dead. */
  silenceMs?: number
}

export type Work = { stop(): Promise<void> }

/** Work that no request waits for: rows, jobs, purges, sweeps. `stop` parks what is in hand, then ends. */
export async function startWork(parts: WorkParts): Promise<Work> {
  const { config, log, store, databaseUrl, catalogue, silenceMs } = parts
  const ending = new AbortController()
  const egress = createEgress(egressSettings(config))
  const sandbox = createSandbox()
  const models = createModels(config)
  const engineStore = openStore({ url: databaseUrl, log, connections: 8, keyedPlans: true })
  const engine = createEngine({
    store: engineStore,
    catalogue,
    egress,
    sandbox,
    models,
    mail: mailSettings(config),
    log,
    ending: ending.signal,
    concurrency: config.LOAM_CONCURRENCY,
    environment: createRunEnvironment(store, parts.sealer, config.providerKeys),
  })
  const worker = await startWorker({
    databaseUrl,
    store: engineStore,
    log,
    engine,
    concurrency: config.LOAM_CONCURRENCY,
    jobs: { list: jobsOf(parts), ending: ending.signal },
    ...(silenceMs === undefined ? {} : { silenceMs }),
  })
  const sweep = setInterval(() => {
    Promise.all([forgetOldCalls(store.system), forgetOldWindows(store)]).catch((cause: unknown) =>
      log.warn({ err: cause }, 'sweep failed; tried again later'),
    )
  }, SWEEP_MS)
  const purged = runPurger(store, log, ending.signal)
  const scheduled = runScheduler(store, log, ending.signal)
  let stopped: Promise<void> | undefined
  const comeToRest = async () => {
    ending.abort()
    clearInterval(sweep)
    await Promise.all([worker.stop(), purged, scheduled])
    await Promise.all([egress.close(), models.close(), sandbox.close(), engineStore.close()])
  }
  return { stop: () => (stopped ??= comeToRest()) }
}

/** Every kind of job that a worker process can be given. */
function jobsOf(parts: WorkParts): Job[] {
  const { store } = parts
  return [
    importJob(parts),
    fileSweepJob(parts),
    ...exportJobs(parts),
    shortcutSweep(store),
    webhookSweep(store),
  ]
}
