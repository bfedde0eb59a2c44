import { beforeAll, describe, expect, it } from 'vitest'
import { testCatalogue } from '#test/builders/catalogue.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { fieldsOf, makeChain, type TestChain } from '../../../api/testing/chain.ts'

const app = await makeApp({ services: { catalogue: testCatalogue } })
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})
const chainWith = async (...actions: string[]): Promise<TestChain> => {
  const chain = await makeChain(app, org)
  for (const action of actions) await chain.add(action)
  return chain
}
const codesOf = (warnings: Json[]) => warnings.map(({ field, code }) => [field, code])
const when = (variable: string, operator = 'is empty', values?: string[]) => ({
  conditions: [{ conditions: [{ variable, operator, ...(values === undefined ? {} : { values }) }] }],
})

describe('4.5 Add Action', () => {
  const WORDS = { placeholder: null, group: 'main' }

  it('201 Action instance plus warnings', async () => {
    const chain = await chainWith()
    const { status, body } = await chain.call('POST', '/add', {
      action_id: 'finder',
      inputs: { url: '{{input.email}}' },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      status: 201,
      warnings: [],
      data: {
        action_instance_id: 'finder_1',
        action_id: 'finder',
        display_name: 'Finder',
        inputs: [
          {
            name: 'url',
            type: 'url',
            required: false,
            description: 'Enough alone.',
            help: 'Enough alone.',
            label: 'Url',
            kind: 'url',
            ...WORDS,
          },
          {
            name: 'name',
            type: 'string',
            required: false,
            description: 'Needs domain.',
            help: 'Needs domain.',
            label: 'Needs domain',
            kind: 'text',
            ...WORDS,
          },
          {
            name: 'domain',
            type: 'string',
            required: false,
            description: 'Needs name.',
            help: 'Needs name.',
            label: 'Needs name',
            kind: 'text',
            ...WORDS,
          },
          {
            name: 'providers',
            type: 'stepDownSearch',
            required: false,
            description: 'Who is asked.',
            help: 'Who is asked.',
            label: 'Providers',
            kind: 'waterfall',
            ...WORDS,
          },
        ],
        outputs: [
          { name: 'email', type: 'email', reference: '{{finder_1.email}}', description: 'What was found.' },
        ],
      },
    })
    expect(await chain.audit()).toEqual([['action.added', { action_instance_id: 'finder_1', after: null }]])
  })

  it('columns of a structured_array have references of three segments; an action without outputs has []', async () => {
    const chain = await chainWith()
    const { outputs } = (await chain.call('POST', '/add', { action_id: 'probe' })).body.data
    expect(outputs.find((output: Json) => output.name === 'people')).toEqual({
      name: 'people',
      type: 'structured_array',
      reference: '{{probe_1.people}}',
      description: 'A list with columns.',
      columns: [
        { name: 'name', type: 'string', structured_array_reference: '{{probe_1.people.name}}' },
        { name: 'email', type: 'email', structured_array_reference: '{{probe_1.people.email}}' },
      ],
    })
    expect((await chain.call('POST', '/add', { action_id: 'gate' })).body.data.outputs).toEqual([])
  })

  it('appends by default; `after` puts it right behind; repeated adds give reverse order; `input` is the start', async () => {
    const chain = await chainWith('gate', 'gate')
    await chain.add('gate', { after: 'gate_1' })
    await chain.add('gate', { after: 'gate_1' })
    await chain.add('gate', { after: 'input' })
    expect(await chain.ids()).toEqual(['input', 'gate_5', 'gate_1', 'gate_4', 'gate_3', 'gate_2'])
    expect(await chain.epochs()).toEqual([0, 0, 0, 0, 0])
  })

  it('D30: suffixes are never reused', async () => {
    const chain = await chainWith('gate', 'gate')
    await chain.call('DELETE', '/gate_2')
    expect(await chain.add('gate')).toBe('gate_3')
    await chain.call('DELETE', '/gate_3')
    await chain.call('DELETE', '/gate_1')
    expect([await chain.add('gate'), await chain.add('caller')]).toEqual(['gate_4', 'caller_1'])
  })

  it.each([
    [' My gate ', 'My gate'],
    ['   ', 'Gate'],
    ['', 'Gate'],
  ])('name %j is shown as %j', async (name, shown) => {
    const chain = await chainWith()
    await chain.add('gate', { name })
    expect((await chain.node('gate_1')).display_name).toBe(shown)
  })

  it('configuration fields have the same shapes as in Configure Action', async () => {
    const chain = await chainWith()
    await chain.add('probe', {
      inputs: { text: '{{input.email}}' },
      run_if: when('{{input.email}}', 'contains', ['@']),
      continue_workflow_if_action_fails: true,
      note: '  Mind this ',
    })
    expect(await chain.node('probe_1')).toMatchObject({
      inputs: { text: '{{input.email}}' },
      run_if: when('{{input.email}}', 'contains', ['@']),
      continue_workflow_if_action_fails: true,
      note: 'Mind this',
    })
    await chain.add('gate', { note: ' ', run_if: {} })
    expect(Object.keys(await chain.node('gate_1'))).toEqual([
      'action_instance_id',
      'action_id',
      'display_name',
      'inputs',
      'next',
      'fields',
    ])
    await chain.add('gate', { run_if: null })
    expect(await chain.node('gate_2')).not.toHaveProperty('run_if')
  })

  it.each<[string, unknown, string[]]>([
    ['nothing', {}, ['action_id']],
    ['D69: no body', undefined, ['action_id']],
    ['an unknown action_id', { action_id: 'nope' }, ['action_id']],
    ['an instance as action_id', { action_id: 'gate_1' }, ['action_id']],
    ['a word of the language', { action_id: 'constructor' }, ['action_id']],
    ['an unknown after', { action_id: 'gate', after: 'gate_9' }, ['after']],
    ['an action_id as after', { action_id: 'gate', after: 'gate' }, ['after']],
    ['null as after', { action_id: 'gate', after: null }, ['after']],
    ['both unknown', { action_id: 'nope', after: 'gate_9' }, ['action_id', 'after']],
    ['a name of two lines', { action_id: 'gate', name: 'a\nb' }, ['name']],
    ['a configuration that is refused', { action_id: 'probe', inputs: { text: 5 } }, ['inputs.text']],
    ['a bad run_if', { action_id: 'gate', run_if: { conditions: [] } }, ['run_if.conditions']],
    [
      'shape, place and configuration, all at once',
      { action_id: 'probe', after: 'x', name: 5, note: 5, inputs: { text: 5 }, run_if: { conditions: 1 } },
      ['name', 'note', 'after', 'inputs.text', 'run_if.conditions'],
    ],
  ])('400 %s, and nothing is created', async (_name, body, fields) => {
    const chain = await chainWith('gate')
    const before = [await chain.definition(), await chain.updatedAt()]
    expect(fieldsOf(await chain.call('POST', '/add', body))).toEqual(fields)
    expect([await chain.definition(), await chain.updatedAt()]).toEqual(before)
    expect(await chain.add('gate')).toBe('gate_2')
  })

  it('warns about what is missing and about what is not known', async () => {
    const chain = await chainWith()
    const { body } = await chain.call('POST', '/add', {
      action_id: 'probe',
      colour: 'red',
      inputs: { size: 'x' },
    })
    expect(codesOf(body.warnings)).toEqual([
      ['inputs.size', 'unknown_field'],
      ['inputs.text', 'required_field_missing'],
      ['colour', 'unknown_field'],
    ])
  })
})

describe('4.5 Get Action Graph and Get Action', () => {
  it('topological order, the synthetic input node first, one output per input field', async () => {
    const chain = await makeChain(app, org, [
      { name: 'email', type: 'email', description: 'Work address' },
      { name: 'Age', type: 'number' },
    ])
    await chain.add('gate')
    await chain.add('probe', { inputs: { text: 'x' }, after: 'input' })
    const { status, body } = await chain.call('GET', '/graph')
    expect(status).toBe(200)
    expect(body.data.map((node: Json) => [node.action_instance_id, node.next])).toEqual([
      ['input', ['probe_1']],
      ['probe_1', ['gate_1']],
      ['gate_1', []],
    ])
    expect(body.data[0]).toEqual({
      action_instance_id: 'input',
      action_id: 'input',
      display_name: 'Inputs',
      outputs: [
        { name: 'email', type: 'email', reference: '{{input.email}}', description: 'Work address' },
        { name: 'Age', type: 'number', reference: '{{input.Age}}', description: '' },
      ],
      next: ['probe_1'],
    })
    expect(body.data[2]).toEqual({
      action_instance_id: 'gate_1',
      action_id: 'gate',
      display_name: 'Gate',
      inputs: {},
      next: [],
    })
    expect(body.data[1].outputs).toHaveLength(7)
  })

  it('an empty sheet has the input node only', async () => {
    const chain = await makeChain(app, org, [])
    expect((await chain.call('GET', '/graph')).body.data).toEqual([
      { action_instance_id: 'input', action_id: 'input', display_name: 'Inputs', outputs: [], next: [] },
    ])
  })

  it('Get Action is the node of the graph; warnings only when the current configuration has problems', async () => {
    const chain = await chainWith('probe', 'gate')
    const [, probe, gate] = (await chain.call('GET', '/graph')).body.data
    expect((await chain.call('GET', '/gate_1')).body).toEqual({
      status: 200,
      data: { ...gate, fields: expect.any(Array) },
    })
    expect((await chain.call('GET', '/probe_1')).body).toEqual({
      status: 200,
      data: { ...probe, fields: expect.arrayContaining([expect.objectContaining({ label: 'Text' })]) },
      warnings: [
        {
          field: 'inputs.text',
          code: 'required_field_missing',
          message: expect.any(String),
          text: 'Enter a text',
        },
      ],
    })
    await chain.configure('probe_1', { inputs: { text: '{{input.email}}' } })
    expect((await chain.call('GET', '/probe_1')).body).not.toHaveProperty('warnings')
    await org.call('DELETE', `${chain.sheet}/inputs/email`)
    expect(codesOf((await chain.call('GET', '/probe_1')).body.warnings)).toEqual([
      ['inputs.text', 'unresolved_reference'],
    ])
  })

  it('output_format is returned as a discriminator string, waterfalls as display names', async () => {
    const chain = await chainWith()
    await chain.add('probe', { inputs: { text: 'x', format: { fields: [{ name: 'a', type: 'number' }] } } })
    await chain.add('finder', {
      inputs: { url: 'x', providers: ['beta', { name: 'ALPHA', use_own_key: true }] },
    })
    expect((await chain.node('probe_1')).inputs).toEqual({ text: 'x', format: 'fields' })
    expect((await chain.node('finder_1')).inputs.providers).toEqual([
      'Beta',
      { name: 'Alpha', use_own_key: true },
    ])
  })

  it('sheets have chains of their own', async () => {
    const chain = await chainWith('gate')
    const { sheet_id } = (await org.call('POST', `/workflows/${chain.workflowId}/sheets`, { name: 'Child' }))
      .body.data
    const path = `/workflows/${chain.workflowId}/sheets/${sheet_id}/actions`
    expect((await org.call('POST', `${path}/add`, { action_id: 'gate' })).body.data.action_instance_id).toBe(
      'gate_1',
    )
    expect((await org.call('DELETE', `${path}/gate_1`)).status).toBe(200)
    expect(await chain.ids()).toEqual(['input', 'gate_1'])
  })
})

describe('4.5 Delete Action', () => {
  it('lists the actions that referenced its outputs, with only the affected fields, in public form', async () => {
    const chain = await chainWith('probe')
    await chain.add('finder', { inputs: { url: '{{probe_1.summary}}', name: 'x', providers: ['Alpha'] } })
    await chain.add('probe', {
      inputs: { text: 'x', pairs: [{ name: 'n', value: '{{probe_1.people.email}}' }] },
    })
    await chain.add('gate', { run_if: when('{{probe_1.score}}', 'greater than', ['5']) })
    await chain.add('probe', { inputs: { text: '{{probe_2.summary}}' } })
    const { status, body } = await chain.call('DELETE', '/probe_1')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      data: {
        deleted: true,
        action_instance_id: 'probe_1',
        dependent_actions: [
          { action_instance_id: 'finder_1', inputs: { url: '{{probe_1.summary}}' } },
          {
            action_instance_id: 'probe_2',
            inputs: { pairs: [{ name: 'n', label: 'n', value: '{{probe_1.people.email}}' }] },
          },
          {
            action_instance_id: 'gate_1',
            inputs: { run_if: when('{{probe_1.score}}', 'greater than', ['5']) },
          },
        ],
      },
    })
    expect(await chain.ids()).toEqual(['input', 'finder_1', 'probe_2', 'gate_1', 'probe_3'])
    expect((await chain.node('finder_1')).inputs.url).toBe('{{probe_1.summary}}')
    expect(codesOf((await chain.call('GET', '/finder_1')).body.warnings)).toEqual([
      ['inputs.url', 'unresolved_reference'],
    ])
    expect((await chain.audit()).at(-1)).toEqual([
      'action.deleted',
      { action_instance_id: 'probe_1', action_id: 'probe' },
    ])
  })

  it('a missing id returns 404 (not idempotent); the input node 400', async () => {
    const chain = await chainWith('gate')
    expect((await chain.call('DELETE', '/gate_1')).body.data.dependent_actions).toEqual([])
    expect((await chain.call('DELETE', '/gate_1')).status).toBe(404)
    expect(fieldsOf(await chain.call('DELETE', '/input'))).toEqual(['action_instance_id'])
  })
})
