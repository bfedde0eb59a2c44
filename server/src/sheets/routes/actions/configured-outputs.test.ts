import { expect, it } from 'vitest'
import { findMember } from '#server/organisation/store/members.ts'
import { publishShortcut, listWarnings } from '#server/shortcuts/publish.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { makeChain, type TestChain } from '../../../api/testing/chain.ts'

const app = await makeApp({ settings: { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' } })
const org = await app.makeOrg()

async function chainWith(output_format?: unknown): Promise<TestChain> {
  const chain = await makeChain(app, org)
  const inputs = { model: 'small', prompt: 'Hi', ...(output_format === undefined ? {} : { output_format }) }
  await chain.add('ai_generate', { inputs })
  return chain
}
const outputsOf = async (chain: TestChain): Promise<[string, string][]> =>
  (await chain.call('GET', '/ai_generate_1/outputs')).body.data.outputs.map((one: Json) => [
    one.name,
    one.type,
  ])

const FIELDS = {
  fields: [
    { name: 'score', type: 'number' },
    { name: 'site', type: 'url' },
  ],
}
const SCHEMA = {
  json: {
    type: 'object',
    properties: {
      headCount: { type: 'integer' },
      site: { type: ['string', 'null'], format: 'uri' },
      address: { type: 'object' },
      tags: { type: 'array', items: { type: 'string' } },
      people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    },
  },
}

it.each<[string, unknown, [string, string][]]>([
  ['no format', undefined, [['response', 'string']]],
  [
    'fields',
    FIELDS,
    [
      ['score', 'number'],
      ['site', 'url'],
    ],
  ],
  [
    'a JSON schema',
    SCHEMA,
    [
      ['head_count', 'number'],
      ['site', 'url'],
      ['address', 'json'],
      ['tags', 'raw_array'],
      ['people', 'structured_array'],
    ],
  ],
])('D74: the outputs of %s are known before any run', async (_name, format, expected) => {
  expect(new Map(await outputsOf(await chainWith(format)))).toEqual(new Map(expected))
})

it('D74: tokens and conditions know them, with their types', async () => {
  const chain = await chainWith(FIELDS)
  const add = (value: string, more = {}) =>
    chain.call('POST', '/add', { action_id: 'normalize_domain', inputs: { value }, ...more })
  expect((await add('{{ai_generate_1.site}}')).body.warnings).toEqual([])
  expect((await add('{{ai_generate_1.sight}}')).body.warnings).toMatchObject([
    { code: 'unresolved_reference' },
  ])
  const when = (operator: string) => ({
    run_if: {
      conditions: [{ conditions: [{ variable: '{{ai_generate_1.score}}', operator, values: ['1'] }] }],
    },
  })
  expect((await add('x', when('greater than'))).status).toBe(201)
  expect((await add('x', when('contains'))).status).toBe(400)
})

it('D74: a type that the configuration declares is not replaced by what a run showed', async () => {
  const chain = await chainWith(FIELDS)
  const shown = JSON.stringify([
    { name: 'score', type: 'string' },
    { name: 'old', type: 'string' },
  ])
  await app.store.system
    .insertInto('action_outputs')
    .values({ org_id: org.orgId, sheet_id: chain.workflowId, action: 'ai_generate_1', outputs: shown })
    .execute()
  expect(await outputsOf(chain)).toEqual([
    ['score', 'number'],
    ['site', 'url'],
  ])
})

it('D74: a shortcut published before any run has them; one without any output warns', async () => {
  const { system: db } = app.store
  const member = await findMember(db, org.orgId, org.adminEmail)
  if (member === undefined) throw new Error('the administrator is a member')
  const author = { orgId: org.orgId, memberId: member.member_id, email: member.email, keyId: null }
  const publisher = { db, author, catalogue: app.services.catalogue }
  const shown = { name: 'S', description: '', cover_image: null, icon_emoji: null }
  const publish = (workflowId: string) => publishShortcut(publisher, workflowId, member, { shown, given: {} })
  const made = await publish((await chainWith(FIELDS)).workflowId)
  expect(made.outputs.map(({ name }) => name)).toEqual(['score', 'site'])
  expect(listWarnings(made)).toEqual([])
  const gate = await makeChain(app, org)
  await gate.add('filter')
  expect(listWarnings(await publish(gate.workflowId))).toMatchObject([
    { field: 'outputs', code: 'no_outputs' },
  ])
})
