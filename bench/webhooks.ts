// Measures bursts of small webhooks, each with its own id, through the real server: against bare Fastify
// routes that insert the same rows on the same PostgreSQL, batched and one by one, and against the batched
// inserts alone. They are measured in turns.
// npm run bench:webhooks [-- --seconds 2 --rounds 5 --connections 128]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import pg from 'pg'
import { openStore } from '#server/database/connection/db.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import type { ServerProcess } from '#test/plumbing/server-process.ts'
import { COMPANY_COLUMNS, companyRow } from './parts/company-row.ts'
import { bar, median, print } from './parts/report.ts'
import { createServerGroup } from './parts/server-group.ts'
import { CREATE, INSERT, recordsOf } from './peers/bare-insert.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '128' },
  },
})
const seconds = Number(values.seconds)
const SECRET = 'a secret for benchmarks'
const MANY = '1000000000'

const dataDir = mkdtempSync(join(tmpdir(), 'loam-bench-'))
const servers = createServerGroup()
let serial = 0
try {
  const loam = await servers.start({
    LOAM_DATA_DIR: dataDir,
    LOAM_SECRET: SECRET,
    LOAM_WEBHOOK_PER_MINUTE: MANY,
  })
  const { url: database }: { url: string } = JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8'))
  const path = await makeHook(loam, database)
  await withClient(database, (client) => client.query(CREATE))
  const batched = await servers.start({}, 'bench/peers/bare-webhooks.ts', database, 'batched')
  const single = await servers.start({}, 'bench/peers/bare-webhooks.ts', database, 'single')

  const peers: { what: string; measure: () => Promise<number> }[] = [
    { what: 'loam: token, limit, id, row, record', measure: () => flood(`${loam.url}${path}`) },
    { what: 'bare Fastify, inserts batched alike', measure: () => flood(`${batched.url}/hooks/bare`) },
    { what: 'bare Fastify, one insert a request', measure: () => flood(`${single.url}/hooks/bare`) },
    { what: 'no HTTP: inserts of 500, 2 connections', measure: () => insertOnly(database) },
  ]
  const rounds: number[][] = []
  for (let round = 0; round <= Number(values.rounds); round++) {
    const rates: number[] = []
    for (const peer of peers) rates.push(await peer.measure())
    // The first round warms up.
    if (round > 0) rounds.push(rates)
  }
  const ratioTo = (n: number) => median(rounds.map((rates) => (rates[0] ?? 0) / (rates[n] ?? 0)))
  print(
    `Webhooks of one row each, ${values.connections} connections`,
    peers.map(({ what }, n) => ({
      what,
      'rows/s': Math.round(median(rounds.map((rates) => rates[n] ?? 0))),
      'loam / this': n === 0 ? '' : ratioTo(n).toFixed(2),
    })),
  )
  bar('webhooks against bare batched inserts over HTTP', ratioTo(1), 0.4)
} finally {
  await servers.stop()
  rmSync(dataDir, { recursive: true, force: true })
}

async function withClient<Result>(
  database: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function makeHook(server: ServerProcess, database: string): Promise<string> {
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8')
  const sheet_id = (await makeSheet(callOver(server.url, key), COMPANY_COLUMNS)).slice(-36)
  const store = openStore({ url: database, log: createLog('silent'), connections: 1 })
  const { org_id } = await store.system.selectFrom('organisations').select('org_id').executeTakeFirstOrThrow()
  const token = await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), {
    sheet: { org_id, sheet_id },
  })
  await store.close()
  return `/hooks/${token}`
}

async function flood(url: string): Promise<number> {
  const result = await autocannon({
    url,
    connections: Number(values.connections),
    duration: seconds,
    requests: [
      {
        method: 'POST',
        setupRequest(request) {
          serial += 1
          const headers = { 'content-type': 'application/json', 'webhook-id': `msg_${serial}` }
          return { ...request, headers, body: JSON.stringify(companyRow(serial)) }
        },
      },
    ],
  })
  const failed = result.non2xx + result.errors
  if (failed > 0) throw new Error(`${failed} requests of ${url} failed`)
  return result.requests.average
}

async function insertOnly(database: string): Promise<number> {
  const until = performance.now() + seconds * 1000
  const counts = await Promise.all(
    [1, 2].map(() =>
      withClient(database, async (client) => {
        let count = 0
        while (performance.now() < until) {
          const rows = Array.from({ length: 500 }, () => companyRow(++serial))
          await client.query({ name: 'insert', text: INSERT, values: [recordsOf(rows)] })
          count += rows.length
        }
        return count
      }),
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0) / seconds
}
