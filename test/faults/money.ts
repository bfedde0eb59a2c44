// M18: 50 capped runs of 3 organisations at once, whose workers are killed with -9 at random moments. One
// organisation is limited only by the caps of its runs, one has a budget, one has too little credit. Then all
// rows that can continue do.
// npm run faults:money [-- --runs 50 --rows 400 --kills 20 --workers 3 --seed 1]
import { parseArgs } from 'node:util'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { addRows, makeSheet } from '../builders/sheets.ts'
import { serveProvider } from '../doubles/provider.ts'
import { killWorkers, untilAllEnd } from './breaks/kills.ts'
import { check, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { checkMoneyBooks, readMoneyBooks } from './checks/money-books.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '50' },
    rows: { type: 'string', default: '400' },
    kills: { type: 'string', default: '20' },
    workers: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const [RUNS, ROWS] = [Number(values.runs), Number(values.rows)]
/** A slow provider, so that kills meet cells in flight. */
const provider = await serveProvider(20)
const CHAIN = [
  { action_id: 'paid' },
  { action_id: 'free' },
  { action_id: 'paid_call', inputs: { url: provider.url } },
]
/** The number of paid cells of a run. */
const CELLS = 2 * ROWS
const PLENTY = 2 * RUNS * CELLS * PRICE
const random = createRandom(Number(values.seed))
/** Returns the part of an amount that is spent if the demand for cells is unlimited. */
const affordable = (millis: number) => Math.floor(millis / PRICE) * PRICE
const sumOf = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0)

const installation = await openInstallation(0)
try {
  /** Returns a cap between zero and more than all cells cost, rarely a whole number of cells. */
  const makeCap = () => Math.floor(random() * 1.1 * CELLS * PRICE)
  const caps = Array.from({ length: RUNS }, makeCap)
  const shares = [0, 1, 2].map((place) => caps.filter((_, n) => n % 3 === place))
  const wantedOf = (own: number[]) => sumOf(own.map((cap) => affordable(Math.min(cap, CELLS * PRICE))))
  const [free = [], budgeted = [], poor = []] = shares
  const budget = Math.floor(wantedOf(budgeted) * 0.6) + 1
  const balance = Math.floor(wantedOf(poor) * 0.5) + 7
  const plans = [
    { name: 'capped', caps: free, start: PLENTY, spent: wantedOf(free) },
    { name: 'with a budget', caps: budgeted, start: PLENTY, spent: affordable(budget) },
    { name: 'poor', caps: poor, start: balance, spent: affordable(balance) },
  ]
  const orgs = await Promise.all(
    plans.map(async (plan) => {
      const { orgId, key } = await installation.makeOrg(plan.name, plan.start / 1000)
      const call = installation.callWith(key)
      if (plan.caps === budgeted)
        await call('POST', '/credits/budgets', {
          scope: 'organisation',
          period: 'total',
          limit: budget / 1000,
          emails: [],
        })
      const sheets: { base: string; cap: number; runId: string }[] = []
      for (const cap of plan.caps) {
        const base = await makeSheet(call, ['x'], CHAIN)
        await call('PATCH', base, { cache_enabled: false })
        await addRows(call, base, ROWS)
        sheets.push({ base, cap, runId: '' })
      }
      return { ...plan, orgId, call, sheets }
    }),
  )
  say(`seed ${values.seed}: ${RUNS} runs of ${ROWS} rows x 2 paid cells in 3 organisations`)
  for (const { call, sheets } of orgs)
    for (const sheet of sheets) {
      await call('POST', `${sheet.base}/run-all`, { max_credits: sheet.cap / 1000 })
      sheet.runId = (await call('GET', `${sheet.base}/runs`)).data[0].run_id
    }
  await killWorkers(installation, {
    count: Number(values.kills),
    workers: Number(values.workers),
    random,
  })
  await untilAllEnd('all runs end', installation)
  for (const { name, orgId, start, spent, sheets, call } of orgs) {
    checkMoneyBooks(name, await readMoneyBooks(installation, orgId), start, spent)
    const runs = await Promise.all(
      sheets.map(async ({ base, runId }) => (await call('GET', `${base}/runs/${runId}`)).data),
    )
    const passed = runs.filter(({ credits, max_credits }) => credits > max_credits)
    check(`${name}: runs that passed their cap`, passed.length, 0)
    const millis = sumOf(runs.map(({ credits }) => Math.round(credits * 1000)))
    check(`${name}: what the runs say that they cost`, millis, spent)
  }
  const [capped] = orgs
  if (capped === undefined) throw new Error('there are no organisations')
  for (const { base, runId } of capped.sheets)
    await capped.call('POST', `${base}/runs/${runId}/resume`, { max_credits: null })
  await untilAllEnd('resumed runs end', installation)
  const all = capped.sheets.length * CELLS * PRICE
  checkMoneyBooks('resumed', await readMoneyBooks(installation, capped.orgId), capped.start, all)
  sayVerdict('money')
} finally {
  provider.close()
  await installation.close()
}
