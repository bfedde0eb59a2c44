import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { openai } from '#server/catalog/providers/openai/provider.ts'
import { OPEN_GATE } from '#server/catalog/testing/provider-double.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { runPull } from './pull-job.ts'
import type { PullParts } from './pull-parts.ts'
import { Killed, killedAt } from './testing/fault-store.ts'

const PAGES = 4
const NEVER = new AbortController().signal
const FIELDS = [{ name: 'name' }]

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A list of pages with one product each; the last page links to no next one. Every source has its own list. */
const site = await serve((request, response) => {
  const [, list = '', page = ''] = request.url?.split('/') ?? []
  const n = Number(page)
  response.writeHead(n >= 1 && n <= PAGES ? 200 : 404, { 'content-type': 'text/html' })
  const next = n < PAGES ? `<a rel="next" href="/${list}/${n + 1}">Next</a>` : ''
  response.end(`<p>This is page ${n} of ${list} about product ${n}, which is the best of all.</p>${next}`)
})

/**
 * The pages that the model was asked about, by list. It finds the product of each page, and nothing on the pages in
 * `empty`.
 */
const asked = new Map<string, number[]>()
const empty = new Set<string>()
const model = await serve((request, response) => {
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    const [, page = '', list = ''] = /This is page (\d+) of (\S+) about/.exec(text) ?? []
    const n = Number(page)
    asked.set(list, [...(asked.get(list) ?? []), n])
    const items = empty.has(`${list} ${n}`) ? [] : [{ name: `product ${n}` }]
    const message = { role: 'assistant', content: JSON.stringify({ items }) }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'small',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    )
  })
})
const app = await makeApp({
  settings: { LOAM_EGRESS_ALLOW: '127.0.0.1', LOAM_MODEL_BASE_URL: `${model}/v1` },
})
const { store, sealer, config, egress, models, log, sources } = app.services
const parts: PullParts = {
  store,
  sources,
  keysOf: (member) => createRunEnvironment(store, sealer, config.providerKeys).keysOfMember(member),
  services: { egress, gates: { of: () => OPEN_GATE }, models, now: () => new Date() },
  log,
  sealer,
}
const bodyOf = (list: string, from = 1) => ({
  url: `${site}/${list}/${from}`,
  model: 'small',
  item: 'products',
  fields: FIELDS,
  follow_pagination: true,
})

/** Creates a source with its own list, read from page `from` on. */
async function create(org: TestOrg, more: object = {}, list: string = randomUUID(), from = 1) {
  const body = { ...bodyOf(list, from), ...more }
  const made = await org.call('POST', '/sources/extract_from_website', body)
  expect(made.status).toBe(201)
  const id: string = made.body.data.source_instance_id
  return { id, pagesAsked: () => asked.get(list) ?? [] }
}
const pull = (org: TestOrg, id: string, from = store) =>
  runPull({ ...parts, store: from }, { org_id: org.orgId, instance_id: id }, NEVER)
const show = async (org: TestOrg, id: string) => (await org.call('GET', `/sources/${id}`)).body.data

async function books({ orgId }: TestOrg) {
  const [found] = await store.query<{ held: number; charged: number }>({
    text: `select held_millis as held,
        (select coalesce(-sum(amount_millis), 0) from ledger_entries e where e.org_id = o.org_id and reason = 'source') as charged
      from organisations o where org_id = $1`,
    values: [orgId],
  })
  return { held: Number(found?.held), charged: Number(found?.charged) }
}

describe('pages that a model reads', () => {
  it('cost a credit each where it found something, in one transaction with their records', async () => {
    const list = randomUUID()
    empty.add(`${list} 3`)
    const org = await app.makeOrg()
    const { id, pagesAsked } = await create(org, {}, list)
    await pull(org, id)
    // Nothing is found on the third page, so no later page is read.
    expect(pagesAsked()).toEqual([1, 2, 3])
    expect(await show(org, id)).toMatchObject({ status: 'completed', lead_count: 2, credits_spent: 2 })
    expect(await books(org)).toEqual({ held: 0, charged: 2000 })
  })

  it('a killed worker is charged for no page twice, and only its current page is requested again', async () => {
    for (let at = 1; ; at += 1) {
      const org = await app.makeOrg()
      const { id, pagesAsked } = await create(org, {}, randomUUID(), PAGES - 1)
      const through = await pull(org, id, killedAt(store, at)).then(
        () => true,
        (cause: unknown) => {
          expect(cause).toBeInstanceOf(Killed)
          return false
        },
      )
      await store.query({
        text: 'update sources set claimed_until = null where instance_id = $1',
        values: [id],
      })
      await pull(org, id)
      expect(pagesAsked().length).toBeLessThanOrEqual(3)
      expect(await show(org, id)).toMatchObject({ status: 'completed', lead_count: 2, credits_spent: 2 })
      expect(await books(org)).toEqual({ held: 0, charged: 2000 })
      if (through) break
    }
  }, 300_000)

  it('max_credits holds: no page is requested that could not be paid', async () => {
    const org = await app.makeOrg()
    const { id, pagesAsked } = await create(org, { max_credits: 2.5 })
    await pull(org, id)
    expect(pagesAsked()).toEqual([1, 2])
    const state = await show(org, id)
    expect(state).toMatchObject({ status: 'paused_out_of_credits', lead_count: 2, credits_spent: 2 })
    expect(state.last_error.message).toContain('a page costs 1')
    await org.call('PATCH', `/sources/${id}`, { max_credits: null })
    await pull(org, id)
    expect(pagesAsked()).toEqual([1, 2, 3, 4])
    expect(await books(org)).toEqual({ held: 0, charged: 4000 })
  })

  it('max_count ends the pull at its record, and no further page is asked for', async () => {
    const org = await app.makeOrg()
    const { id, pagesAsked } = await create(org, { max_count: 2 })
    await pull(org, id)
    expect([pagesAsked(), (await show(org, id)).status]).toEqual([[1, 2], 'completed'])
  })

  it('cost nothing on a connection of the organisation', async () => {
    const org = await app.makeOrg()
    await addConnection(store.system, sealer, OPERATOR, {
      orgId: org.orgId,
      provider: openai,
      name: 'Ours',
      ownerId: null,
      shared: true,
      fields: { secret: 'own key', base_url: `${model}/v1` },
    })
    const { id } = await create(org, { model: 'openai/small', connection_id: 'Ours' })
    await pull(org, id)
    expect(await show(org, id)).toMatchObject({ status: 'completed', lead_count: 4, credits_spent: 0 })
    expect(await books(org)).toEqual({ held: 0, charged: 0 })
  })

  it('a preview requests the first page only, writes nothing and costs nothing', async () => {
    const org = await app.makeOrg()
    const list = randomUUID()
    const { body } = await org.call('POST', '/sources/extract_from_website/preview', bodyOf(list))
    expect(body.data).toEqual([{ name: 'product 1', source_url: `${site}/${list}/1` }])
    expect(body.metadata).toMatchObject({ capped: true })
    expect(asked.get(list)).toEqual([1])
    expect(await books(org)).toEqual({ held: 0, charged: 0 })
  })

  it('without a model of that name, one 400 names it and what to set', async () => {
    const without = await makeApp({ settings: { LOAM_EGRESS_ALLOW: '127.0.0.1' } })
    const org = await without.makeOrg()
    const { status, body } = await org.call('POST', '/sources/extract_from_website', bodyOf(randomUUID()))
    expect(status).toBe(400)
    expect(body.errors).toEqual([
      { field: 'model', message: expect.stringContaining('set LOAM_MODEL_BASE_URL') },
    ])
  })
})
