import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OPEN_GATE, type Reply } from '#server/catalog/testing/provider-double.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp, type TestApp, type TestOrg } from '#test/plumbing/harness.ts'
import { deliverRecords } from '../delivery-job.ts'
import { runPull } from '../pull-job.ts'
import type { PullParts } from '../pull-parts.ts'
import { paged, pagedSources } from './paged-source.ts'

export type Item = { id: string | number; name: string; email?: string | null; at?: string }
export type Asked = {
  list: string
  token: number
  since: string | null
  limit: number
  key: string | undefined
}

/** A list of the paged provider: its items in pages, or what `answer` returns instead. */
export type List = {
  items: Item[]
  pageSize?: number
  answer?: (asked: Asked, place: number) => Reply | null | Promise<Reply | null>
}

const NEVER = new AbortController().signal

/** Starts an application with the test sources (or the given ones) and their provider on loopback. */
export async function makeSourceApp(settings: Record<string, string> = {}, catalogue = pagedSources) {
  const lists = new Map<string, List>()
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://paged')
    const { searchParams: query } = url
    const one: Asked = {
      list: decodeURIComponent(url.pathname.slice(1)),
      token: Number(query.get('token') ?? 0),
      since: query.get('since'),
      limit: Number(query.get('limit')),
      key: request.headers.authorization?.replace('Bearer ', ''),
    }
    asked.push(one)
    const place = asked.filter(({ list }) => list === one.list).length - 1
    void sendAnswer(response, answerOf(lists.get(one.list), one, place))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const app = await makeApp({
    settings: {
      LOAM_EGRESS_ALLOW: '127.0.0.1',
      LOAM_PROVIDER_URL_PAGED: origin,
      LOAM_PROVIDER_URL_OPEN: origin,
      ...settings,
    },
    services: { sources: catalogue },
  })
  const { store, sealer, config, egress, models, log } = app.services
  const parts: PullParts = {
    store,
    sources: catalogue,
    keysOf: (member) => createRunEnvironment(store, sealer, config.providerKeys).keysOfMember(member),
    // Tests cause many faults. A breaker that one test opens would disturb the next test.
    services: { egress, gates: { of: () => OPEN_GATE }, models, now: () => new Date() },
    log,
    sealer,
    // Each page is written separately, so that there are boundaries between pages.
    batches: { records: 1, bytes: 1, ms: 0 },
  }

  return {
    app,
    parts,
    lists,
    asked,
    /** Runs the job of a source once, as a worker does. */
    pull: (org: TestOrg, id: string, signal = NEVER) =>
      runPull(parts, { org_id: org.orgId, instance_id: id }, signal),
    deliver: (org: TestOrg, id: string, workflowId: string) =>
      deliverRecords(
        store.org(org.orgId),
        { org_id: org.orgId, instance_id: id, workflow_id: workflowId },
        NEVER,
      ),
    async create(org: TestOrg, slug: string, body: object): Promise<string> {
      const made = await org.call('POST', `/sources/${slug}`, body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
      return made.body.data.source_instance_id
    },
    show: async (org: TestOrg, id: string) => (await org.call('GET', `/sources/${id}`)).body.data,
    async names(org: TestOrg, id: string): Promise<string[]> {
      const { body } = await org.call('GET', `/sources/${id}/data?page_size=200`)
      return body.data.rows.map(({ name }: Item) => name)
    },
    /** Changes a source directly in the database, such as the time of its next pull. */
    set: (id: string, change: string) =>
      store.query({ text: `update sources set ${change} where instance_id = $1`, values: [id] }),
  }
}

async function sendAnswer(response: ServerResponse, answer: Promise<Reply>): Promise<void> {
  const { status = 200, headers, text, json = {} } = await answer
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text ?? JSON.stringify(json))
}

async function answerOf(list: List | undefined, asked: Asked, place: number): Promise<Reply> {
  if (list === undefined) return { status: 404 }
  const special = (await list.answer?.(asked, place)) ?? null
  if (special !== null) return special
  const { items, pageSize = 2 } = list
  const from = asked.token
  const end = from + pageSize
  return {
    json: {
      items: items.slice(from, end),
      total: items.length,
      ...(end < items.length ? { next: String(end) } : {}),
    },
  }
}

export const itemsOf = (count: number, from = 1): Item[] =>
  Array.from({ length: count }, (_, n) => ({ id: from + n, name: `item ${from + n}` }))

/** Adds a connection of the organisation to the paged provider. */
export async function connectPaged(
  { services: { store, sealer } }: TestApp,
  { orgId }: TestOrg,
  name = 'Main',
  more: { ownerId?: string; shared?: boolean } = {},
): Promise<string> {
  const made = await addConnection(store.system, sealer, OPERATOR, {
    orgId,
    provider: paged,
    name,
    ownerId: more.ownerId ?? null,
    shared: more.shared ?? true,
    fields: { secret: `key of ${name}` },
  })
  return made.connection_id
}
