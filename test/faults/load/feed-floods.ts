import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Store } from '#server/database/connection/db.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { makeSheet } from '#test/builders/sheets.ts'
import { SECRET } from '#test/plumbing/installation.ts'
import { listenOnLoopback, type Outside } from '../breaks/outside.ts'
import { startCallersApart } from './caller-thread.ts'
import type { Caller, Flood, OpenFlood } from './floods.ts'

/** `site` serves both an API of items and a website. */
type Parts = { store: Store; origin: string; share: number; pollMs: number; site: Outside }

/**
 * Returns floods of everything that feeds workflows (sources, segments and their syncs, webhooks) and of the
 * web agent.
 */
export function createFeedFloods(parts: Parts): Record<string, OpenFlood> {
  return {
    pulls: (flooder, other) => pullFlood(parts, flooder, other),
    segments: (flooder, other) => segmentFlood(parts, flooder, other),
    webhooks: (flooder, other) => webhookFlood(parts, flooder, other),
    agent: (flooder, other) => agentFlood(parts, flooder, other),
  }
}

const ITEMS_A_PAGE = 500
const PAGE_MS = 20

/**
 * Serves an API of items in pages: `/endless` always has another page, `/slow` too but slowly, `/short` has
 * one page. Also serves a web page.
 */
export async function serveItems(): Promise<Outside> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://items')
    if (url.pathname === '/about') {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<title>About</title><p>Acme was founded by Ada Byron.</p>')
      return
    }
    const page = Number(url.searchParams.get('page') ?? 1)
    const isEndless = url.pathname !== '/short'
    const count = isEndless ? ITEMS_A_PAGE : page === 1 ? 5 : 0
    const items = Array.from({ length: count }, (_, n) => ({
      id: `${page}-${n}`,
      text: `item ${n} of page ${page} `.repeat(10),
    }))
    const delay = url.pathname === '/slow' ? 2000 : isEndless ? PAGE_MS : 0
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ items }))
    }, delay)
  })
  return listenOnLoopback(server)
}

const SOURCES = 300

/** Floods with endless sources, half of them slow. The other organisation has a source with a single page. */
async function pullFlood(
  { share, site, store, pollMs }: Parts,
  flooder: Caller,
  other: Caller,
): Promise<Flood> {
  const bodyOf = (name: string, path: string) => ({
    name,
    url: `${site.url}${path}`,
    items_path: 'items',
    key_path: 'id',
    pagination: { type: 'page' },
  })
  const count = Math.max(6, Math.ceil(SOURCES * share))
  let operations = 0
  return {
    async operate() {
      operations += 1
      const body = bodyOf(`Calm ${operations}`, '/short')
      const { data } = await other.call('POST', '/sources/import_from_api', body)
      for (;;) {
        const { status, last_error } = (await other.call('GET', `/sources/${data.source_instance_id}`)).data
        if (status === 'completed') return
        if (status !== 'active' || last_error !== null)
          throw new Error(`a source is ${status}: ${last_error?.message}`)
        await sleep(pollMs)
      }
    },
    async start() {
      for (let n = 0; n < count; n += 1) {
        const path = n % 2 === 0 ? '/endless' : '/slow'
        await flooder.call('POST', '/sources/import_from_api', bodyOf(`Flood ${n}`, path))
      }
      return {
        left: () => countRows(store, sql`from sources where org_id = ${flooder.orgId} and status = 'active'`),
        async stop() {
          await sql`update sources set status = 'paused' where org_id = ${flooder.orgId}`.execute(
            store.system,
          )
        },
      }
    },
  }
}

const ENTITIES = 5000
const SEGMENTS = 200
const INGESTED_AT_ONCE = 250

/**
 * Floods with records that change all the time under many segments, each with a sync. The other organisation
 * has one segment, measured up to its rows.
 */
async function segmentFlood({ store, share, pollMs }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  let second = 0
  const put = async ({ orgId }: Caller, from: number, count: number) => {
    second += 1
    const observed_at = new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString()
    const records = Array.from({ length: count }, (_, n) => {
      const identifiers = [{ kind: 'domain', value: `c${from + n}.example` }]
      const fields = { name: `c${from + n} at ${second}`, industry: n < 5 ? 'software' : 'steel' }
      const checked = checkRecord({ kind: 'company', identifiers, fields, observed_at }, new Date())
      if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
      return checked.record
    })
    await ingestRecords(store.org(orgId), orgId, { source: 'crm', actor: 'r16', records })
  }
  const make = async ({ orgId }: Caller, name: string, conditions: unknown[]) => {
    const segment = { name, kind: 'company' as const, filter: [{ conditions }] }
    return (await createSegment(store.org(orgId), orgId, OPERATOR, segment)).segment_id
  }
  const sync = (caller: Caller, segmentId: string, sheet: string) =>
    caller.call('POST', `/records/segments/${segmentId}/sync`, {
      workflow_id: sheet.slice(-36),
      field_mapping: { 'input.who': 'name' },
      push_existing: true,
    })
  await put(flooder, 0, 10)
  await put(other, 0, 10)
  const flooded = await makeSheet(flooder.call, ['who'])
  const sheet = await makeSheet(other.call, ['who'])
  // Half of the names match, another half each time.
  const heavy = Array.from({ length: 20 }, (_, n) => ({
    variable: 'name',
    operator: 'does not contain',
    values: [`${n}${n}`],
  }))
  const count = Math.max(10, Math.ceil(SEGMENTS * share))
  for (let n = 0; n < count; n += 1) {
    const id = await make(flooder, `Flood ${n}`, [...heavy, { ...heavy[0], values: [`x${n}`] }])
    await sync(flooder, id, flooded)
  }
  let operations = 0
  return {
    async operate() {
      operations += 1
      const condition = { variable: 'industry', operator: 'is', values: ['software'] }
      const id = await make(other, `Calm ${operations}`, [condition])
      const { data } = await sync(other, id, sheet)
      for (;;) {
        const [destination] = (await other.call('GET', `/records/syncs/${data.sync_id}`)).data.destinations
        if (destination.delivered === 5) return
        await sleep(pollMs)
      }
    },
    async start() {
      const entities = Math.max(1000, Math.ceil(ENTITIES * share))
      const over = new AbortController()
      const change = async () => {
        for (let from = 0; !over.signal.aborted; from = (from + INGESTED_AT_ONCE) % entities) {
          await put(flooder, from, INGESTED_AT_ONCE)
        }
      }
      const changing = change()
      return {
        left: async () => count,
        async stop() {
          over.abort()
          await changing
          await sql`update segment_syncs set next_cycle_at = 'infinity' where org_id = ${flooder.orgId}`.execute(
            store.system,
          )
        },
      }
    },
  }
}

async function countRows(store: Store, from: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ left: number }>`select count(*)::int as left ${from}`.execute(store.system)
  return rows[0]?.left ?? 0
}

const SENDERS = 48
const LARGE_ROWS = 2000
/** The minimum number of rows. Smaller deliveries are accepted together with others. */
const MIN_ROWS = 500

/**
 * Floods with deliveries of thousands of rows. The other organisation sends deliveries of one row from the
 * same address.
 */
async function webhookFlood({ store, origin, share }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  const hookOf = async ({ orgId, call }: Caller) => {
    const sheet_id = (await makeSheet(call, ['text'])).slice(-36)
    const key = { org_id: orgId, sheet_id }
    return `/hooks/${await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), { sheet: key })}`
  }
  const [flooded, calm] = [await hookOf(flooder), await hookOf(other)]
  // The size is too large to be accepted together with others.
  const single = JSON.stringify({ text: 'x'.repeat(20_000) })
  return {
    async operate() {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${origin}${calm}`, { method: 'POST', headers, body: single })
      const answer = await response.text()
      if (!response.ok) throw new Error(`a delivery was refused: ${response.status} ${answer}`)
    },
    async start() {
      const body = Array.from({ length: Math.max(MIN_ROWS, LARGE_ROWS * share) }, (_, n) => ({
        text: `row ${n} `.repeat(5),
      }))
      const wanted = { path: flooded, body }
      const stop = await startCallersApart({ count: SENDERS, key: flooder.key, origin, wanted })
      return { left: async () => SENDERS, stop }
    },
  }
}

const RUNS_AT_ONCE = 5

/**
 * Floods with as many concurrent runs of the agent as an organisation may have, again and again. The other
 * organisation runs it once at a time.
 */
async function agentFlood({ site, origin }: Parts, flooder: Caller, other: Caller): Promise<Flood> {
  const output_schema = { properties: { founder: { type: 'string', description: 'Who founded it.' } } }
  const body = { prompt: `Who founded Acme? See ${site.url}/about`, output_schema }
  return {
    async operate() {
      const { data } = await other.call('POST', '/agent/run', body)
      if (data.founder === undefined) throw new Error(`the agent answered ${JSON.stringify(data)}`)
    },
    async start() {
      // The excess runs are refused. They must not slow down the run that is admitted either.
      const count = 4 * RUNS_AT_ONCE
      const wanted = { path: '/agent/run', body }
      const stop = await startCallersApart({ count, key: flooder.key, origin, wanted })
      return { left: async () => count, stop }
    },
  }
}
