// Source pulls: records are imported, paid for and synced into workflows while workers are killed with -9,
// every connection to PostgreSQL is cut, and PostgreSQL is killed, at random. Every record must exist once,
// be paid once, and be one row of each workflow.
// npm run faults:pulls [-- --records 20000 --sources 2 --kills 12 --cuts 24 --seed 1]
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { cutConnections, startAnother } from './breaks/interruptions.ts'
import { check, persist, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The records of each source. */
    records: { type: 'string', default: '20000' },
    sources: { type: 'string', default: '2' },
    /** The number of times that a worker is killed, every fourth time together with PostgreSQL. */
    kills: { type: 'string', default: '12' },
    /** The number of times that all connections are cut. */
    cuts: { type: 'string', default: '24' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const RECORDS = Number(values.records)
const SOURCES = Number(values.sources)
const CREDITS = 1_000_000
const PAGE = 100
const PAGE_MS = 20
const PATIENCE_SECONDS = 600
const random = createRandom(Number(values.seed))

/** Serves pages in the format of X. */
const provider = createServer((request, response) => {
  const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('next_token') ?? 0)
  const from = page * PAGE
  const data = Array.from({ length: Math.min(PAGE, RECORDS - from) }, (_, n) => ({
    id: String(from + n + 1),
    author_id: '7',
    text: `Post ${from + n}`,
    created_at: '2026-01-01T00:00:00.000Z',
    public_metrics: { like_count: n, retweet_count: 0 },
  }))
  const isLast = from + PAGE >= RECORDS
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const meta = { newest_id: String(RECORDS), ...(isLast ? {} : { next_token: String(page + 1) }) }
    response.end(JSON.stringify({ data, includes: { users: [{ id: '7', username: 'acme' }] }, meta }))
  }, PAGE_MS)
})
await new Promise<void>((resolve) => void provider.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`

const installation = await openInstallation()
const { store } = installation
try {
  const { key } = await installation.makeOrg('Pulls', CREDITS)
  const settings = { LOAM_PROVIDER_URL_X: origin, LOAM_PROVIDER_KEY_X: 'a-key' }
  const server = await installation.startServer({ ...settings, LOAM_ROLES: 'api' })
  const call = callOver(server.url, key)
  for (let n = 0; n < SOURCES; n += 1) {
    const { data } = await call('POST', '/sources/search_x_tweets', { query: `query ${n}` })
    const workflow_id = (await makeSheet(call, ['text'])).slice(-36)
    const body = { workflow_id, field_mapping: { 'input.text': 'text' } }
    await call('POST', `/sources/${data.source_instance_id}/sync`, body)
  }

  type Counts = {
    records: number
    keys: number
    rows: number
    texts: number
    completed: number
    paid: number
    price: number
    held: number
  }
  const text = `select (select count(*) from source_records) as records,
      (select count(distinct (instance_id, key)) from source_records) as keys,
      (select count(*) from rows) as rows,
      (select count(distinct (sheet_id, data ->> '1')) from rows) as texts,
      (select count(*) from sources where status = 'completed') as completed,
      (select sum(spent_millis) from sources)::bigint as paid, (select max(price_millis) from sources) as price,
      (select sum(held_millis) from sources)::bigint as held`
  const count = async (): Promise<Counts> => {
    const [found] = await persist(() => store.query<Counts>({ text, values: [] }))
    if (found === undefined) throw new Error('nothing was counted')
    return found
  }
  const total = SOURCES * RECORDS
  const isDone = ({ rows, completed }: Counts) => rows >= total && completed === SOURCES

  const startWorker = () => installation.startWorker({ ...settings, LOAM_CONCURRENCY: '20' })
  const workers: WorkerChild[] = await Promise.all([startWorker(), startWorker()])
  say(`seed ${values.seed}: ${SOURCES} sources of ${RECORDS} records`)
  const done = { kills: 0, cuts: 0 }
  const started = performance.now()
  /** Waits for progress. Without progress between two interruptions the import would never finish. */
  const untilProgress = async () => {
    const { records, rows } = await count()
    await until(
      'records or rows come',
      async () => {
        const now = await count()
        return now.records + now.rows > records + rows || isDone(now)
      },
      PATIENCE_SECONDS,
    )
  }
  while (done.kills + done.cuts < Number(values.kills) + Number(values.cuts)) {
    await untilProgress()
    if (isDone(await count())) break
    await sleep(random() * 300)
    const isKill = done.cuts >= Number(values.cuts) || (done.kills < Number(values.kills) && random() < 0.33)
    if (isKill) {
      const victim = done.kills % 2
      workers[victim]?.child.kill('SIGKILL')
      await workers[victim]?.ended
      if (done.kills % 4 === 3) installation.signalPostgres('SIGKILL')
      workers[victim] = await startAnother(startWorker)
      done.kills += 1
    } else {
      await cutConnections(store)
      done.cuts += 1
    }
  }
  say(`${done.kills} kills and ${done.cuts} cuts of all connections`)
  await until('all is delivered', async () => isDone(await count()), PATIENCE_SECONDS).catch(
    // A lost record is detected by the count below, so a timeout here is only printed.
    (cause: Error) => say(cause.message),
  )
  say(`${((performance.now() - started) / 1000).toFixed(0)} s`)
  const end = await count()
  check('records', end.records, total)
  check('records by their key', end.keys, total)
  check('rows', end.rows, total)
  check('rows of different records', end.texts, total)
  check('sources that are complete', end.completed, SOURCES)
  check('credits paid', end.paid, total * end.price)
  check('credits held', end.held, 0)
  const { data: credits } = await call('GET', '/credits')
  check('balance', credits.balance, CREDITS - (total * end.price) / 1000)
  check('kills and cuts', done.kills + done.cuts > 0, true)
  sayVerdict('pulls')
} finally {
  await installation.close()
  provider.close()
}
