import { expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { makeChain, type TestChain } from '../../../api/testing/chain.ts'
import { endedRun, FORMULA, publish } from '../../../api/testing/shortcut.ts'

const app = await makeApp({ settings: { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' } })
await startTestWorker(app)
const org = await app.makeOrg()

const SCHEMA = {
  json: {
    type: 'object',
    additionalProperties: false,
    properties: {
      score: { type: 'number' },
      address: { type: 'object' },
      tags: { type: 'array', items: { type: 'string' } },
      people: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' }, home: { type: 'object' } } },
      },
    },
  },
}
const INPUTS = [
  { name: 'company', type: 'string' },
  { name: 'size', type: 'number' },
  { name: 'size.unit', type: 'string' },
]

async function warningsFor(chain: TestChain, reference: string) {
  const given = { action_id: 'normalize_domain', inputs: { value: `{{${reference}}}` } }
  const { status, body } = await chain.call('POST', '/add', given)
  expect(status).toBe(201)
  return body.warnings.map(({ field, code }: { field: string; code: string }) => [field, code])
}

const chain = await makeChain(app, org, INPUTS)
await chain.add('ai_generate', { inputs: { model: 'small', prompt: 'Hi', output_format: SCHEMA } })

it.each([
  'ai_generate_1.address.city.name',
  'ai_generate_1.address[0]',
  'ai_generate_1.tags[0]',
  'ai_generate_1.people[0]',
  'ai_generate_1.people[0].name',
  'ai_generate_1.people.home.city',
  'input.company.name',
  'input.company[0].name',
  'input.size.unit',
  'input.size.unit.short',
])('D75: {{%s}} may lead to something, and is not warned of', async (reference) => {
  expect(await warningsFor(chain, reference)).toEqual([])
})

it.each([
  'ai_generate_1.score.value',
  'ai_generate_1.score[0]',
  'ai_generate_1.tags.name',
  'ai_generate_1.people[0].age',
  'ai_generate_1.people[0].name.first',
  'ai_generate_1.people.name.first',
  'ai_generate_1.nothing.name',
  'input.size.digits',
  'input.nothing.name',
])('D75: {{%s}} is seen to lead nowhere: unresolved_reference', async (reference) => {
  expect(await warningsFor(chain, reference)).toEqual([['inputs.value', 'unresolved_reference']])
})

it('D75: an output that is known to be no JSON is one, also beside others that no run has shown yet', async () => {
  const open = await makeChain(app, org, INPUTS)
  const output_format = { json: { ...SCHEMA.json, additionalProperties: true } }
  await open.add('ai_generate', { inputs: { model: 'small', prompt: 'Hi', output_format } })
  expect(await warningsFor(open, 'ai_generate_1.later.name')).toEqual([])
  expect(await warningsFor(open, 'ai_generate_1.score.value')).toEqual([
    ['inputs.value', 'unresolved_reference'],
  ])
})

it('D75: rows read what their values hold there, and what a value lacks is empty', async () => {
  const made = await makeChain(app, org, [
    { name: 'company', type: 'string' },
    { name: 'company.name', type: 'string' },
  ])
  await made.add(FORMULA, {
    inputs: {
      data_formatter: '({ people: [{ name: {{input.company.ceo.name}} }], city: {{input.company.city}} })',
    },
  })
  const { sheet, workflowId } = made
  const gate = { variable: `{{${FORMULA}_1.formatted_data.people[0].name}}`, operator: 'is equal to' }
  await made.add(FORMULA, {
    inputs: {
      data_formatter: `'{{${FORMULA}_1.formatted_data.city}}/{{input.company.name}}/{{input.company.tags[1]}}'`,
    },
    run_if: { conditions: [{ conditions: [{ ...gate, values: ['Ann'] }] }] },
  })
  const company = { name: 'hidden', ceo: { name: 'Ann' }, city: 'Ulm', tags: ['a', 'b'] }
  const rows = [
    { company, 'company.name': 'Acme' },
    { company: JSON.stringify(company) },
    { company: { ceo: { name: 'Ann' } } },
    { company: { ceo: 'Ann' } },
    { company: 'no JSON' },
  ]
  const added = await org.call('POST', `${sheet}/rows`, { rows, run_after_add: 'all' })
  expect(added.status).toBe(201)
  const settled = await settledRows(org, sheet)
  const ends = settled.map(({ cells }) => cells[`${FORMULA}_2`])
  expect(ends.map((cell: Json) => cell.outputs?.formatted_data ?? cell.status)).toEqual([
    'Ulm/Acme/b',
    'Ulm//b',
    '//',
    'condition_not_met',
    'condition_not_met',
  ])

  const reference = `{{${FORMULA}_1.formatted_data.people[0].name}}`
  const given = { outputs: [{ name: 'chief', reference }] }
  const { shortcut_id } = await publish(app, org, workflowId, { given })
  const input_data = { company: JSON.stringify(company) }
  const run = await org.call('POST', `/shortcuts/${shortcut_id}/run`, { input_data })
  expect([run.status, run.body.errors]).toEqual([201, undefined])
  const ended = await endedRun(org, `/shortcuts/${shortcut_id}/runs/${run.body.data.id}`)
  expect(ended).toMatchObject({ status: 'completed', output_data: { chief: { value: 'Ann' } } })
})
