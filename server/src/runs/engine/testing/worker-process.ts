import { openStore } from '#server/database/connection/db.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { readFastParts, switchOff } from '#server/lib/fast-parts.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { openOutside } from '#server/process/outside.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { finishedRunsJob, flightStatisticsJob } from '../../sweeps.ts'
import { createEngine } from '../engine.ts'
import { startWorker } from '../worker.ts'
import { faultCatalogue } from './fault-catalogue.ts'
import { WORKING } from './worker-child.ts'

/**
 * The arguments of a worker with the catalogue of the fault tests, in a process that may be killed: database,
 * concurrency, silence.
 */
const [databaseUrl = '', concurrency = '20', silenceMs = '1500'] = process.argv.slice(2)

switchOff(readFastParts(process.env['LOAM_WITHOUT'] ?? ''))
const log = createLog(process.env['LOAM_TEST_LOG'] ?? 'silent')
const ending = new AbortController()
const store = openStore({ url: databaseUrl, log, connections: 6, keyedPlans: true })
const config = readConfig({ LOAM_EGRESS_ALLOW: '127.0.0.1', LOAM_BROWSER: 'none' })
const outside = await openOutside({ config, log, store })
const engine = createEngine({
  store,
  ...outside,
  mail: { url: undefined, from: 'loam@localhost', perHour: 200 },
  log,
  catalogue: faultCatalogue,
  ending: ending.signal,
  concurrency: Number(concurrency),
  environment: createRunEnvironment(store, createSealer('a secret for tests only'), new Map()),
})
const worker = await startWorker({
  databaseUrl,
  store,
  log,
  engine,
  concurrency: Number(concurrency),
  silenceMs: Number(silenceMs),
  jobs: { list: [finishedRunsJob(store), flightStatisticsJob(store)], ending: ending.signal },
})
async function end(): Promise<void> {
  ending.abort()
  await worker.stop()
  await outside.close()
  await store.close()
}
process.once('SIGTERM', () => void end())
process.stdout.write(`${WORKING}\n`)
