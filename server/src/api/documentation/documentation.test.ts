import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { addMember } from '#server/organisation/members.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { OPERATIONS } from './annotate.ts'
import { EXAMPLE_IDS, type Operation } from './operation.ts'
import { makeWorld } from './testing/world.ts'

const app = await makeApp({
  settings: { LOAM_EGRESS_ALLOW: '127.0.0.1', LOAM_RATE_LIMIT_PER_MINUTE: '100000' },
})
await startTestWorker(app)
const document: Json = app.api.swagger()
const listed = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([method, operation]) => ({ method, path, operation })),
)
const described = listed.filter(({ path }) => path.startsWith('/api/v1'))

describe('the description', () => {
  it('has every operation, each with an id of its own, a tag, a summary and what it does in words', () => {
    const keys = described.map(
      ({ method, path }) => `${method.toUpperCase()} ${path.slice('/api/v1'.length).replace(/\/$/, '')}`,
    )
    expect(keys.toSorted()).toEqual(Object.keys(OPERATIONS).toSorted())
    const ids = listed.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operation } of listed) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary, operation.operationId).toMatch(/^[A-Z].{5,}/)
      expect(operation.tags, operation.operationId).toEqual([expect.any(String)])
      expect(operation.description.length).toBeGreaterThan(20)
    }
    for (const { name, description } of document.tags) expect(description, name).not.toBe(name)
  })

  it('describes every status, also those of bodies that are too large or not JSON', () => {
    for (const { operation } of described) {
      for (const response of Object.values<Json>(operation.responses)) {
        expect(response.description).not.toBe('Default Response')
      }
      const codes = Object.keys(operation.responses)
      expect(codes).toEqual(expect.arrayContaining(['401', '429', '503']))
      if (jsonOf(operation) !== undefined) expect(codes).toEqual(expect.arrayContaining(['413', '415']))
    }
  })

  it('has an example for every body, and lets bodies have fields it does not know, as the server does', () => {
    for (const { operation } of described) {
      const media = jsonOf(operation)
      if (media === undefined) continue
      const { example, schema } = media
      if (operation.requestBody.required) expect(example, operation.operationId).toBeDefined()
      expect(schema.additionalProperties).not.toBe(false)
    }
  })

  it('types conditions, inputs and filters, and describes the stream and the webhook', () => {
    const body = (path: string, method = 'post') =>
      document.paths[path][method].requestBody.content['application/json'].schema.properties
    const sheet = '/api/v1/workflows/{workflow_id}/sheets/{sheet_id}'
    const add = body(`${sheet}/actions/add`)
    expect(add.run_if.properties.conditions.items.$ref).toBe('#/components/schemas/ConditionGroup')
    expect(document.components.schemas.ConditionGroup.properties.conditions.items.required).toContain(
      'operator',
    )
    expect(add.inputs.additionalProperties.anyOf.length).toBe(5)
    expect(body(`${sheet}/rows/list`).filters.items.properties.operator.enum).toContain('contains any of')
    expect(document.paths[`${sheet}/changes`].get.responses['200'].content).toHaveProperty(
      'text/event-stream',
    )
    // Refusals of a stream are JSON, as everywhere.
    const refusals = Object.entries<Json>(document.paths[`${sheet}/changes`].get.responses)
    expect(refusals.filter(([status]) => status !== '200').length).toBeGreaterThan(3)
    for (const [status, { content }] of refusals)
      if (status !== '200') expect(Object.keys(content)).toEqual(['application/json'])
    expect(Object.keys(document.paths['/api/v1/credits/ledger'].get.responses['200'].content)).toEqual([
      'application/json',
      'text/csv',
    ])
    expect(document.paths['/hooks/{token}'].post.security).toEqual([])
  })
})

describe('every example, sent as it stands with the ids of a real sheet in place of its own', async () => {
  const org = await app.makeOrg()
  /** Operations that need a model or an account are tested with those; a stream never ends. */
  const apart = new Set([
    'runAgent',
    'getAgentRun',
    'getSourceFieldOptions',
    'streamChanges',
    // These need a cell that failed after it was complete: see former-cells.test.ts.
    'getPreviousCellOutputs',
    'restoreCell',
  ])
  const keys = Object.keys(OPERATIONS).filter((key) => !apart.has(OPERATIONS[key]?.id ?? ''))

  it.each(keys)('%s', async (key) => {
    const { origin } = await serveHttp((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"items":[{"id":1,"name":"Acme"}]}')
    })
    const list = `${origin}/companies`
    const { body, query, file }: Partial<Operation> = OPERATIONS[key] ?? {}
    const world = await makeWorld(app, org, key, list)
    if (key === 'DELETE /org/members') {
      await addMember(app.store.system, OPERATOR, org.orgId, {
        invite: { email: 'bob@example.com', role: 'member' },
        memberLimit: null,
      })
    }
    const [method = '', path = ''] = key.split(' ')
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => world[name] ?? '')
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`
    const sent = file ?? inWorld(body, world, list)
    const answer = await org.call(method, filled + search, sent)
    expect(answer.status < 300 ? 'done' : answer.body).toBe('done')
    const operation = document.paths[`/api/v1${path}`]?.[method.toLowerCase()]
    expect(schemaOf(operation.responses[answer.status]).safeParse(answer.body).error).toBeUndefined()
  })
})

function jsonOf({ requestBody }: Json): Json {
  return requestBody?.content['application/json']
}

function inWorld(body: unknown, world: Record<string, string>, list: string): unknown {
  if (body === undefined) return undefined
  let text = JSON.stringify(body).replace('https://api.example.com/companies', list)
  for (const [name, id] of Object.entries(EXAMPLE_IDS)) text = text.replaceAll(id, world[name] ?? id)
  return JSON.parse(text.replace('leads.csv', world['file_ref'] ?? 'leads.csv'))
}

function schemaOf(response: Json): z.ZodType {
  const { schema } = response.content['application/json']
  const whole = { ...schema, $defs: document.components.schemas }
  return z.fromJSONSchema(JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')))
}

describe('/docs', () => {
  it('loads nothing from other hosts, offers no product of its maker, and is compressed', async () => {
    const page = await app.api.inject({ url: '/docs/' })
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
    for (const setting of ['"withDefaultFonts": false', '"telemetry": false', '"hideClientButton": true']) {
      expect(page.body).toContain(setting)
    }
    const url = '/docs/js/scalar.js'
    const plain = await app.api.inject({ url })
    const compressed = await app.api.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
    expect(compressed.headers['content-encoding']).toBe('br')
    expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
    expect(brotliDecompressSync(compressed.rawPayload).equals(plain.rawPayload)).toBe(true)
  })
})
