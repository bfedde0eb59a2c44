// M18: 20 runs that share one cap, on 4 workers that are killed with -9 thirty times at random moments.
// npm run faults:m1 [-- --runs 20 --rows 2000 --kills 30 --workers 4 --seed 1]
import { parseArgs } from 'node:util'
import { createCap } from '#server/money/store/limits/limits.ts'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { startRun } from '#server/runs/queue.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { serveProvider } from '../doubles/provider.ts'
import { killWorkers, untilAllEnd } from './breaks/kills.ts'
import { check, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { checkMoneyBooks, readMoneyBooks } from './checks/money-books.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    rows: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '30' },
    workers: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const [RUNS, ROWS] = [Number(values.runs), Number(values.rows)]
const CREDITS = RUNS * ROWS * PRICE
/** The cap: three quarters of the price of all cells, plus a rest that is too small for a cell. */
const CAP = Math.floor((RUNS * ROWS * 3) / 4) * PRICE + PRICE - 1
const random = createRandom(Number(values.seed))

/** A slow provider, so that kills meet cells in flight. */
const provider = await serveProvider(20)
const installation = await openInstallation(CREDITS / 1000)
const { ask, store, orgId } = installation
try {
  const limitId = await createCap(store.system, orgId, CAP)
  for (let run = 0; run < RUNS; run += 1) {
    const base = await installation.makeSheet([{ action_id: 'paid_call', inputs: { url: provider.url } }])
    await installation.addRows(base, ROWS)
    const sheet = await findSheet(store.system, orgId, base.slice(-36))
    if (sheet === undefined) throw new Error('the sheet is gone')
    const request = {
      sheet,
      actions: ['paid_call_1'],
      rows: { kind: 'all' as const },
      trigger: 'api' as const,
    }
    await store.system
      .transaction()
      .execute((trx) =>
        startRun(trx, { email: 'admin@example.com', keyId: null }, { ...request, cap: { limitId } }),
      )
  }
  say(`seed ${values.seed}: ${RUNS} runs of ${ROWS} cells share a cap of ${CAP} thousandths`)
  await killWorkers(installation, {
    count: Number(values.kills),
    workers: Number(values.workers),
    random,
  })
  await untilAllEnd('all runs end', installation)
  const spent = CAP - (PRICE - 1)
  checkMoneyBooks('the runs', await readMoneyBooks(installation, orgId), CREDITS, spent)
  const [cells] = await ask<{ complete: number; stopped: number }>(
    `select count(*) filter (where status = 'complete') as complete,
      count(*) filter (where status = 'out_of_credits') as stopped from cells`,
  )
  check('complete cells', cells?.complete, spent / PRICE)
  check('cells that ended for want of credits', cells?.stopped, RUNS * ROWS - spent / PRICE)
  sayVerdict('M1')
} finally {
  provider.close()
  await installation.close()
}
