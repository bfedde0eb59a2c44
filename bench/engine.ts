// P1, P2 and P4: rows through the public API of a real server, every cell durable before the next action starts, against
// bare batched upserts of the same cells on the same PostgreSQL.
// npm run bench:engine [-- --rows 20000]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { createOrganisation } from '#server/org/organisations.ts'
import { OPERATOR } from '#server/store/audit.ts'
import { openStore } from '#server/store/db.ts'
import { startServer } from '#test/server-process.ts'
import { bar, median, print } from './report.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '20000' } } })
const ROWS = Number(values.rows)
const ACTIONS = 5
const CELLS = ROWS * ACTIONS

const dataDir = mkdtempSync(join(tmpdir(), 'loam-bench-'))
const server = await startServer({
  LOAM_DATA_DIR: dataDir,
  LOAM_LOG_LEVEL: 'warn',
  LOAM_RATE_LIMIT_PER_MINUTE: '100000000',
  LOAM_RATE_LIMIT_PER_DAY: '100000000',
})
try {
  const url: string = JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8')).url
  const mine = readFileSync(join(dataDir, 'admin-key'), 'utf8')
  const theirs = await makeOtherKey(url)
  const big = await makeSheet(mine, ROWS)
  const small = await makeSheet(theirs, 10)
  const single = await makeSheet(theirs, 1)

  const walked: number[] = []
  const bare: number[] = []
  for (let round = 0; round < 3; round++) {
    walked.push(CELLS / (await runAll(mine, big)))
    bare.push(CELLS / (await upsertCells(url)))
  }
  print(`P1: ${ROWS} rows x ${ACTIONS} actions`, [
    { what: 'loam, end to end', 'cells/s': Math.round(median(walked)) },
    { what: 'bare batched upserts, 2 connections', 'cells/s': Math.round(median(bare)) },
  ])
  bar('P1 (share of bare upserts)', median(walked) / median(bare), 0.35)

  const idle = await medianOf(30, () => runAll(theirs, single))
  print('P2: one row, 5 actions, idle', [{ ms: (idle * 1000).toFixed(1) }])
  bar('P2 (ms)', idle * 1000, 20, 'at most')

  const alone = await medianOf(10, () => runAll(theirs, small))
  const crowd = runAll(mine, big)
  await sleep(500)
  const crowded = await medianOf(5, () => runAll(theirs, small))
  await crowd
  print('P4: a 10-row run (ms, median)', [
    { when: 'idle', ms: (alone * 1000).toFixed(1) },
    { when: `during a run of ${ROWS} rows`, ms: (crowded * 1000).toFixed(1) },
  ])
  bar('P4 (times idle)', crowded / alone, 3, 'at most')
} finally {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

async function call(key: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return (
    JSON.parse(text) as { data: Record<string, unknown> & { rows_done: number; rows_queued: number }[] }
  ).data
}

async function makeOtherKey(url: string): Promise<string> {
  const store = openStore({ url, log: createLog('silent'), connections: 1 })
  const wanted = { name: 'Other', adminEmail: 'other@example.com', initialCredits: 0 }
  const { key } = await createOrganisation(store.system, OPERATOR, wanted)
  await store.close()
  return key
}

async function makeSheet(key: string, rows: number): Promise<string> {
  const { workflow_id } = await call(key, '/workflows', { name: 'Bench' })
  const base = `/workflows/${String(workflow_id)}/sheets/${String(workflow_id)}`
  await call(key, `${base}/inputs`, [{ name: 'name', type: 'string' }])
  for (let n = 0; n < ACTIONS; n++) {
    await call(key, `${base}/actions/add`, {
      action_id: 'split_full_name',
      inputs: { value: '{{input.name}}' },
    })
  }
  for (let from = 0; from < rows; from += 1000) {
    const chunk = Array.from({ length: Math.min(1000, rows - from) }, (_, n) => ({ name: nameOf(from + n) }))
    await call(key, `${base}/rows`, { rows: chunk })
  }
  return base
}

/** Long enough that a cell holds about 200 bytes of JSON. */
function nameOf(n: number): string {
  return `Ada${n} ${'Augusta '.repeat(10)}Lovelace${n}`
}

/** Runs every row of a sheet and answers the seconds until the last cell is there. */
async function runAll(key: string, base: string): Promise<number> {
  const started = performance.now()
  await call(key, `${base}/run-all`, {})
  for (;;) {
    const [run] = await call(key, `${base}/runs`)
    if (run !== undefined && run.rows_done >= run.rows_queued) return (performance.now() - started) / 1000
    await sleep(2)
  }
}

async function medianOf(times: number, work: () => Promise<number>): Promise<number> {
  const seconds: number[] = []
  for (let n = 0; n < times; n++) seconds.push(await work())
  return median(seconds)
}

/** The same number of cells of the same size into a table of the same shape: what PostgreSQL itself can do. */
async function upsertCells(url: string): Promise<number> {
  const clients = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  for (const client of clients) await client.connect()
  await clients[0]?.query('create table bare (like cells including all)')
  const outputs = {
    first: 'Ada',
    last: 'Lovelace',
    middle: 'Augusta '.repeat(10),
    prefix: null,
    suffix: null,
  }
  const [org, sheet, run] = [newId(), newId(), newId()]
  const batches = Array.from({ length: CELLS / 500 }, (_, n) => n)
  const started = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        const items = Array.from({ length: 500 }, () => ({ r: newId(), out: outputs }))
        await client.query({
          name: 'bare',
          text: `insert into bare (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts,
              credits_millis, cached, started_at)
            select $2, $3, i.r, 'split_full_name_1', 'complete', i.out, $4, 1, 1, 0, false, now()
            from jsonb_to_recordset($1::jsonb) as i (r uuid, out jsonb)
            on conflict (org_id, row_id, action) do update set outputs = excluded.outputs`,
          values: [JSON.stringify(items), org, sheet, run],
        })
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  await clients[0]?.query('drop table bare')
  for (const client of clients) await client.end()
  return seconds
}
