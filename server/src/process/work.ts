import { agentSweep } from '../agent/sweep.ts'
import type { Catalogue } from '../catalog/registry.ts'
import { openStore, type Store } from '../database/connection/db.ts'
import { toConnectionLimits } from '../database/connection/limits.ts'
import { exportJobs } from '../files/exports/export-job.ts'
import { fileSweepJob } from '../files/file-sweep.ts'
import { importJob } from '../files/imports/import-job.ts'
import type { Storage } from '../files/storage/storage.ts'
import type { Config } from '../lib/config/config.ts'
import type { Job } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import { createMailer, mailSettings } from '../lib/mail.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { budgetAlertJob } from '../money/budget-alerts.ts'
import { mailJob } from '../organisation/mail-job.ts'
import { requestSweep } from '../organisation/request-sweep.ts'
import { segmentJobs } from '../records/segments/segment-jobs.ts'
import { segmentCycleJob } from '../records/syncs/cycle.ts'
import { segmentScheduleJob, segmentSyncSweep } from '../records/syncs/scheduler.ts'
import { createCellTests } from '../runs/cell-tests/running/run-test.ts'
import { createEngine } from '../runs/engine/engine.ts'
import { startWorker } from '../runs/engine/worker.ts'
import { launchJob } from '../runs/launch-pieces.ts'
import { createRunEnvironment } from '../runs/run-environment.ts'
import { scheduleJob } from '../runs/scheduler.ts'
import { finishedRunsJob, flightStatisticsJob, laneSweep } from '../runs/sweeps.ts'
import { webhookSweep } from '../runs/webhooks/webhook-intake.ts'
import { purgeJob } from '../sheets/rows/purge-job.ts'
import { rowOrdersJob } from '../sheets/rows/row-orders-job.ts'
import { shortcutSweep } from '../shortcuts/run-status.ts'
import { deliveryJob } from '../sources/pulls/delivery-job.ts'
import { pullJob } from '../sources/pulls/pull-job.ts'
import type { PullParts } from '../sources/pulls/pull-parts.ts'
import { visitorSweep, sourceSweep } from '../sources/pulls/sweep.ts'
import type { SourceCatalogue } from '../sources/registry.ts'
import type { Outside } from './outside.ts'

export type WorkParts = {
  config: Config
  log: Log
  store: Store
  storage: Storage
  sealer: Sealer
  databaseUrl: string
  catalogue: Catalogue
  sources: SourceCatalogue
  /** The caller that opened it closes it, after the work has stopped. */
  outside: Outside
  /** The time of silence after which a worker process counts as dead. */
  silenceMs?: number
  /** Says whether this is the only process that works on the database. */
  sole?: boolean
}

/** The time that a shutdown waits for rows whose expressions are in the sandbox. */
const SANDBOX_GRACE_MS = 5000

export type Work = { stop(): Promise<void> }

/** Starts the work that no request waits for: rows and jobs. `stop` parks the work in progress, then ends. */
export async function startWork(parts: WorkParts): Promise<Work> {
  const { config, log, store, databaseUrl, catalogue, outside, silenceMs, sole = false } = parts
  const { egress, models, sandbox, pages, gates } = outside
  const ending = new AbortController()
  const engineStore = openStore({
    url: databaseUrl,
    log,
    connections: 8,
    keyedPlans: true,
    limits: toConnectionLimits(config),
  })
  const environment = createRunEnvironment(store, parts.sealer, config.providerKeys)
  const engine = createEngine({
    store: engineStore,
    catalogue,
    egress,
    sandbox,
    models,
    pages,
    gates,
    mail: mailSettings(config),
    log,
    ending: ending.signal,
    concurrency: config.LOAM_CONCURRENCY,
    environment,
  })
  const pulls: PullParts = {
    store,
    sources: parts.sources,
    keysOf: (member) => environment.keysOfMember(member),
    services: { egress, models, gates, now: () => new Date() },
    log,
    sealer: parts.sealer,
  }
  const worker = await startWorker({
    databaseUrl,
    store: engineStore,
    log,
    engine,
    runTest: createCellTests({ store: engineStore, catalogue, engine }),
    handOver: store.handOver,
    concurrency: config.LOAM_CONCURRENCY,
    jobs: { list: listJobs(parts, engineStore, pulls), ending: ending.signal },
    sole,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  })
  let stopped: Promise<void> | undefined
  const shutDown = async () => {
    ending.abort()
    // Expressions that are not evaluated by then fail, and their rows are parked.
    const grace = setTimeout(() => void sandbox.close(), SANDBOX_GRACE_MS)
    await worker.stop()
    clearTimeout(grace)
    await engineStore.close()
  }
  return { stop: () => (stopped ??= shutDown()) }
}

/** Returns every kind of job of a worker process, started by name, by cron or every second. */
function listJobs(parts: WorkParts, engineStore: Store, pulls: PullParts): Job[] {
  const { store, log, config, catalogue } = parts
  const sendMail = createMailer(mailSettings(config))
  const { LOAM_SEGMENT_FLOOD_MEMBERS: members, LOAM_SEGMENT_FLOOD_FACTOR: factor } = config
  return [
    importJob(parts),
    ...exportJobs(parts),
    pullJob(pulls),
    deliveryJob(store),
    sourceSweep(store),
    ...segmentJobs(store, parts.config),
    visitorSweep(store),
    scheduleJob({ store, log, catalogue }),
    segmentScheduleJob(store, config.LOAM_SEGMENT_CYCLE_SECONDS, log),
    segmentCycleJob(store, { members, factor }),
    segmentSyncSweep(store),
    finishedRunsJob(engineStore),
    launchJob(engineStore),
    flightStatisticsJob(engineStore),
    purgeJob(store),
    rowOrdersJob(store),
    fileSweepJob(parts),
    shortcutSweep(store),
    agentSweep(store, parts.config),
    webhookSweep(store),
    requestSweep(store),
    laneSweep(store),
    mailJob({ store, sendMail, mailPerHour: config.LOAM_MAIL_PER_HOUR, log }),
    budgetAlertJob({
      store,
      egress: pulls.services.egress,
      sendMail,
      mailPerHour: config.LOAM_MAIL_PER_HOUR,
      sealer: parts.sealer,
      log,
    }),
  ]
}
