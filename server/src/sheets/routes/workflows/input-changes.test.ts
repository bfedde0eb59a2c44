import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { signIn } from '../../../api/testing/session.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()

const text = (name: string) => ({ name, type: 'string' })
const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
  const answer = await org.call(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data
}

async function makeSheet(inputs: object[], rows: object[] = []): Promise<string> {
  const { workflow_id: id } = await call('POST', '/workflows', { name: 'W' })
  const base = `/workflows/${id}/sheets/${id}`
  await call('POST', `${base}/inputs`, inputs)
  if (rows.length > 0) await call('POST', `${base}/rows`, { rows })
  return base
}
const idOf = (base: string) => base.slice(-36)
const change = (base: string, name: string, body: unknown, key = org.key) =>
  app.call(key, 'PATCH', `${base}/inputs/${encodeURIComponent(name)}`, body)
const add = async (base: string, action_id: string, inputs: object, more: object = {}): Promise<string> =>
  (await call('POST', `${base}/actions/add`, { action_id, inputs, ...more })).action_instance_id
const configOf = (base: string, id: string) => call('GET', `${base}/actions/${id}`)
const formula = (base: string, data_formatter: string, more: object = {}) =>
  add(base, 'format_data_using_js_expression', { data_formatter }, more)
const values = async (base: string): Promise<Json[]> =>
  (await call('POST', `${base}/rows/list`, {})).rows.map(({ inputs }: Json) => inputs)

const whenName = (name: string) => ({
  run_if: {
    conditions: [{ conditions: [{ variable: `{{input.${name}}}`, operator: 'is not empty', values: [] }] }],
  },
})

describe('H13: a renamed input keeps its references, values and results', () => {
  it('references in fields, conditions, formulas and lists of columns follow; others stay as they were written', async () => {
    const base = await makeSheet(
      [text('Old'), text('Old.key'), text('other')],
      [{ Old: 'a', 'Old.key': 'b' }],
    )
    const first = await formula(
      base,
      "({{ input.Old }} + '{{input.Old.key}}') // {{input.old}}",
      whenName('Old'),
    )
    const http = await add(base, 'http_api_call', {
      endpoint: 'https://x.example/{{input.Old.deep[0].x}}?o={{input.other}}',
      method: 'POST',
      body: [{ name: '{{input.Old}}', value: '{{{input.Old}}}' }],
    })
    const dedupe = await add(base, 'auto_dedupe_rows', {
      auto_dedupe_columns: ['Old', '{{input.other}}', 'Old.key'],
    })
    const untouched = await formula(base, '{{input.other}}')
    const { status, body } = await change(base, 'Old', { name: 'New name' })
    expect([status, body.data]).toEqual([
      200,
      {
        name: 'New name',
        type: 'string',
        description: '',
        reference: '{{input.New name}}',
        references_changed: [
          { action_instance_id: first, fields: ['data_formatter', 'run_if'] },
          { action_instance_id: http, fields: ['endpoint', 'body'] },
          { action_instance_id: dedupe, fields: ['auto_dedupe_columns'] },
        ],
      },
    ])
    expect((await configOf(base, first)).inputs).toEqual({
      data_formatter: "({{ input.New name }} + '{{input.Old.key}}') // {{input.old}}",
    })
    expect((await configOf(base, first)).run_if.conditions[0].conditions[0].variable).toBe(
      '{{input.New name}}',
    )
    expect((await configOf(base, http)).inputs).toMatchObject({
      endpoint: 'https://x.example/{{input.New name.deep[0].x}}?o={{input.other}}',
      body: [{ name: '{{input.New name}}', value: '{{{input.New name}}}' }],
    })
    expect((await configOf(base, dedupe)).inputs.auto_dedupe_columns).toEqual([
      'New name',
      '{{input.other}}',
      'Old.key',
    ])
    expect((await configOf(base, untouched)).warnings).toBeUndefined()
    expect(await values(base)).toEqual([{ 'New name': 'a', 'Old.key': 'b', other: null }])
  })

  it('results stay: a run after the rename is answered from the cache, and rows in flight go on', async () => {
    const base = await makeSheet([text('a')], [{ a: 'x' }, { a: 'y' }])
    await call('PATCH', base, { cache_enabled: true })
    await add(base, 'delay_step', { time: '1' })
    await formula(base, '{{input.a}} + "!"')
    await call('POST', `${base}/run-all`)
    expect((await change(base, 'a', { name: 'b' })).status).toBe(200)
    expect((await change(base, 'b', { name: 'c' })).status).toBe(200)
    const rows = await settledRows(org, base)
    const output = (row: Json) => row.cells.format_data_using_js_expression_1.outputs.formatted_data
    expect(rows.map(output)).toEqual(['x!', 'y!'])
    await call('POST', `${base}/run-all`)
    const again = await settledRows(org, base)
    expect(again.map((row: Json) => row.cells.format_data_using_js_expression_1.status)).toEqual([
      'complete',
      'complete',
    ])
    const cells = await app.store.system
      .selectFrom('cells')
      .select('cached')
      .where('sheet_id', '=', idOf(base))
      .where('action', '=', 'format_data_using_js_expression_1')
      .execute()
    expect(cells).toEqual([{ cached: true }, { cached: true }])
  })

  it('other sheets follow in mappings and lookups, and what began before still reaches the input', async () => {
    const target = await makeSheet([text('who'), text('who.x')])
    const sender = await makeSheet([text('who')], [{ who: 'Ann' }])
    const send = await add(sender, 'send_to_sheet', {
      target_sheet_id: idOf(target),
      field_mapping: [
        { name: 'who', value: '{{input.who}}' },
        { name: 'who.x', value: 'x' },
      ],
    })
    const conditions = [
      { conditions: [{ variable: '{{input.who}}', operator: 'is', values: ['{{input.who}}'] }] },
    ]
    const lookUp = await add(sender, 'lookup_rows_in_sheet', { target_sheet_id: idOf(target), conditions })
    const { body } = await change(target, 'who', { name: 'name' })
    expect(body.data.references_changed).toEqual([
      { action_instance_id: send, fields: ['field_mapping'], sheet_id: idOf(sender) },
      { action_instance_id: lookUp, fields: ['conditions'], sheet_id: idOf(sender) },
    ])
    expect((await configOf(sender, send)).inputs.field_mapping).toMatchObject([
      { name: 'name', label: 'name', value: '{{input.who}}' },
      { name: 'who.x', value: 'x' },
    ])
    expect((await configOf(sender, lookUp)).inputs.conditions[0].conditions[0]).toMatchObject({
      variable: '{{input.name}}',
      values: ['{{input.who}}'],
    })
    // A sheet that takes its target from a token cannot follow, nor can a published shortcut.
    const blind = await makeSheet([text('sheet')], [{ sheet: idOf(target) }])
    await add(blind, 'send_to_sheet', {
      target_sheet_id: '{{input.sheet}}',
      field_mapping: [{ name: 'who', value: 'Bob' }],
    })
    await add(blind, 'lookup_rows_in_sheet', {
      target_sheet_id: '{{input.sheet}}',
      conditions: [{ conditions: [{ variable: '{{input.who}}', operator: 'is', values: ['Bob'] }] }],
    })
    await call('POST', `${blind}/run-all`)
    const [row] = await settledRows(org, blind)
    expect(row?.cells['lookup_rows_in_sheet_1']).toMatchObject({ outputs: { count: 1 } })
    expect(await values(target)).toEqual([{ name: 'Bob', 'who.x': null }])
    await change(sender, 'who', { name: 'person' })
    expect((await configOf(sender, lookUp)).inputs.conditions[0].conditions[0]).toMatchObject({
      variable: '{{input.name}}',
      values: ['{{input.person}}'],
    })
  })

  it('webhooks take the former name, and the present one before it', async () => {
    const base = await makeSheet([text('mail'), text('b')])
    expect((await change(base, 'mail', { name: 'email' })).status).toBe(200)
    const sheet = { org_id: org.orgId, sheet_id: idOf(base) }
    const { sealer } = app.services
    const token = await switchWebhookOn(app.store.system, OPERATOR, sealer, { sheet, rotate: false })
    const send = (payload: object) => app.api.inject({ method: 'POST', url: `/hooks/${token}`, payload })
    await send({ mail: 'a@x.example' })
    await send({ mail: 'old', email: 'new' })
    await call('POST', `${base}/inputs`, [text('mail')])
    await send({ mail: 'third' })
    await expect.poll(async () => (await values(base)).length).toBe(3)
    expect((await values(base)).map(({ email, mail }) => [email, mail])).toEqual([
      ['a@x.example', null],
      ['new', null],
      [null, 'third'],
    ])
  })
})

describe('H13: what a rename refuses', async () => {
  const base = await makeSheet([text('a'), text('taken'), text('p.q'), text('r')])
  await formula(base, '{{input.a.q}} + {{input.r}}')
  it.each<[string, string, unknown, number, [string, string][]]>([
    ['a taken name', 'a', { name: 'taken' }, 400, [['name', 'must be unique in the sheet']]],
    ['braces', 'a', { name: 'b}' }, 400, [['name', 'must not contain braces']]],
    ['a dot', 'a', { name: '.' }, 400, [['name', 'must not be . or ..']]],
    ['blanks', 'a', { name: '  ' }, 400, [['name', 'must not be empty']]],
    ['a control character', 'a', { name: 'x\ny' }, 400, [['name', 'must not contain control characters']]],
    [
      'a name that another reference would take',
      'a',
      { name: 'p' },
      400,
      [['name', 'with this name, {{input.p.q}} would mean another input; choose another name']],
    ],
    [
      'several faults at once',
      'a',
      { name: 'taken', type: 'select' },
      400,
      [
        ['name', 'must be unique in the sheet'],
        ['choices', 'required: an input of type select needs choices'],
      ],
    ],
    ['an unknown field', 'a', { reference: 'x' }, 400, [['reference', 'is not known here']]],
    [
      'choices of another type',
      'a',
      { choices: ['x'] },
      400,
      [['choices', 'only an input of type select has choices']],
    ],
    ['an unknown input', 'A', { name: 'b' }, 404, []],
  ])('%s', async (_, name, body, status, errors) => {
    const answer = await change(base, name, body)
    const found = (answer.body.errors ?? []).map((error: Json) => [error.field, error.message])
    expect([answer.status, found]).toEqual([status, errors])
  })

  it('case alone may change, hostile names are names, and nothing is no change', async () => {
    const sheet = await makeSheet([text('Email'), text('x')], [{ Email: 'a', x: 'b' }])
    expect((await change(sheet, 'Email', { name: 'email' })).status).toBe(200)
    expect((await change(sheet, 'x', { name: '__proto__' })).status).toBe(200)
    await formula(sheet, '{{input.__proto__}}')
    expect((await change(sheet, '__proto__', { name: 'constructor' })).body.data).toMatchObject({
      references_changed: [{ action_instance_id: 'format_data_using_js_expression_1' }],
    })
    expect((await change(sheet, 'constructor', {})).body.data.references_changed).toEqual([])
    expect(await values(sheet)).toEqual([{ email: 'a', constructor: 'b' }])
  })

  it('of two renames at once both hold, and of two to one name only one', async () => {
    const sheet = await makeSheet([text('a'), text('b'), text('c')])
    await formula(sheet, '{{input.a}}{{input.b}}')
    const both = await Promise.all([change(sheet, 'a', { name: 'x' }), change(sheet, 'b', { name: 'y' })])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect((await configOf(sheet, 'format_data_using_js_expression_1')).inputs.data_formatter).toBe(
      '{{input.x}}{{input.y}}',
    )
    const one = await Promise.all([change(sheet, 'x', { name: 'z' }), change(sheet, 'y', { name: 'z' })])
    expect(one.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400])
  })

  it('two sheets that name each other are renamed at the same time', async () => {
    const [one, other] = [await makeSheet([text('a')]), await makeSheet([text('a')])]
    const send = (from: string, to: string) =>
      add(from, 'send_to_sheet', {
        target_sheet_id: idOf(to),
        field_mapping: [{ name: 'a', value: '{{input.a}}' }],
      })
    await send(one, other)
    await send(other, one)
    for (let n = 0; n < 5; n += 1) {
      const [before, after] = [n === 0 ? 'a' : `a${n}`, `a${n + 1}`]
      const answers = await Promise.all([one, other].map((sheet) => change(sheet, before, { name: after })))
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    }
    expect((await configOf(one, 'send_to_sheet_1')).inputs.field_mapping).toMatchObject([
      { name: 'a5', value: '{{input.a5}}' },
    ])
  })

  it('a key without access to another workflow is not told of it, but its chain follows', async () => {
    const target = await makeSheet([text('a')])
    const sender = await makeSheet([text('b')])
    const id = await add(sender, 'send_to_sheet', {
      target_sheet_id: idOf(target),
      field_mapping: [{ name: 'a', value: 'x' }],
    })
    const key = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [idOf(target)] })
    const { status, body } = await change(target, 'a', { name: 'z' }, key)
    expect([status, body.data.references_changed]).toEqual([200, []])
    expect((await configOf(sender, id)).inputs.field_mapping[0].name).toBe('z')
    const reader = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] })
    expect((await change(target, 'z', { name: 'y' }, reader)).status).toBe(403)
    const stranger = await app.makeOrg()
    expect((await change(target, 'z', { name: 'y' }, stranger.key)).status).toBe(404)
  })
})

it('H13: Undo gives an input its name back, with all that followed, and makes no result stale', async () => {
  const target = await makeSheet([text('a'), text('b')])
  const action = await formula(target, '{{input.a}}')
  const sender = await makeSheet([text('x')])
  const send = await add(sender, 'send_to_sheet', {
    target_sheet_id: idOf(target),
    field_mapping: [{ name: 'a', value: '{{input.x}}' }],
  })
  const session = await signIn(app, org.orgId, org.adminEmail)
  const layout = {
    order: ['input.b', 'input.a'],
    hidden: [],
    frozen: ['input.a'],
    widths: { 'input.a': 200, 'input.b': 90 },
    rowHeight: 32,
    shown: {},
  }
  await session.call('PUT', `${target}/layout`, layout)
  const renamed = await session.call('PATCH', `/api/v1${target}/inputs/a`, { name: 'c' })
  expect(renamed.status).toBe(200)
  expect((await session.call('GET', `${target}/layout`)).body.data).toEqual({
    ...layout,
    order: ['input.b', 'input.c'],
    frozen: ['input.c'],
    widths: { 'input.c': 200, 'input.b': 90 },
  })
  const epochs = async () => {
    const { definition } = await app.store.system
      .selectFrom('chain_revisions')
      .select('definition')
      .where('sheet_id', '=', idOf(target))
      .orderBy('revision', 'desc')
      .executeTakeFirstOrThrow()
    return definition.actions.map(({ epoch }) => epoch)
  }
  const steps = async (): Promise<Json> => (await session.call('GET', `${target}/definition/steps`)).body.data
  const before = await epochs()
  for (const [list, name] of [
    ['past', 'a'],
    ['future', 'c'],
  ] as const) {
    const { from, to } = (await steps())[list][0]
    expect((await session.call('POST', `${target}/definition/restore`, { from, to })).status).toBe(200)
    expect((await configOf(target, action)).inputs.data_formatter).toBe(`{{input.${name}}}`)
    expect((await configOf(sender, send)).inputs.field_mapping[0].name).toBe(name)
    expect((await session.call('GET', `${target}/layout`)).body.data.frozen).toEqual([`input.${name}`])
    expect(await epochs()).toEqual(before)
  }
  // The change that followed there is not offered to be undone.
  expect((await session.call('GET', `${sender}/definition/steps`)).body.data.past).toEqual([])
})
