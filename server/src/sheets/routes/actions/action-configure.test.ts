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

describe('4.5 Configure Action', () => {
  it('{status, warnings, data: {action_instance_id}}', async () => {
    const chain = await chainWith('probe')
    const answer = await chain.call('PATCH', '/probe_1', { inputs: { text: 'x' } })
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 200, warnings: [], data: { action_instance_id: 'probe_1' } },
    ])
    expect((await chain.audit()).at(-1)).toEqual([
      'action.configured',
      { action_instance_id: 'probe_1', fields: ['inputs'], inputs: ['text'] },
    ])
  })

  it('send only fields to change; null clears one', async () => {
    const chain = await chainWith('probe')
    await chain.configure('probe_1', { inputs: { text: 'x', other: 'y', amount: '5' }, note: 'n' })
    await chain.configure('probe_1', {
      inputs: { other: null, flag: true },
      continue_workflow_if_action_fails: false,
    })
    expect(await chain.node('probe_1')).toMatchObject({
      inputs: { text: 'x', amount: '5', flag: true },
      continue_workflow_if_action_fails: false,
      note: 'n',
    })
    expect((await chain.node('probe_1')).inputs).not.toHaveProperty('other')
    await chain.configure('probe_1', { note: '  ' })
    expect(await chain.node('probe_1')).not.toHaveProperty('note')
  })

  it('D32: a field that run_if does not have is ignored with unknown_field', async () => {
    const chain = await chainWith('gate')
    const run_if = when('{{input.email}}')
    expect(codesOf(await chain.configure('gate_1', { run_if: { ...run_if, foo: 1 } }))).toEqual([
      ['run_if.foo', 'unknown_field'],
    ])
    expect((await chain.node('gate_1')).run_if).toEqual(run_if)
  })

  it('run_if: saved in nested form, {} is a no-op, null clears', async () => {
    const chain = await chainWith('gate')
    const flat = { variable: '{{input.email}}', operator: 'contains', values: [5] }
    expect(codesOf(await chain.configure('gate_1', { run_if: flat }))).toEqual([
      ['run_if', 'deprecated_format'],
    ])
    const nested = when('{{input.email}}', 'contains', ['5'])
    expect((await chain.node('gate_1')).run_if).toEqual(nested)
    await chain.configure('gate_1', { run_if: {} })
    expect((await chain.node('gate_1')).run_if).toEqual(nested)
    await chain.configure('gate_1', { run_if: null })
    expect(await chain.node('gate_1')).not.toHaveProperty('run_if')
  })

  it.each<[string, Record<string, unknown>, [string, string][]]>([
    ['unknown_field', { inputs: { text: 'x', size: 1 } }, [['inputs.size', 'unknown_field']]],
    [
      'unknown_field of a raw number',
      { inputs: { text: 'x', amount: 5 } },
      [['inputs.amount', 'unknown_field']],
    ],
    ['unknown_field of a body field', { inputs: { text: 'x' }, colour: 1 }, [['colour', 'unknown_field']]],
    [
      'unresolved_reference',
      { inputs: { text: '{{input.gone}}' } },
      [['inputs.text', 'unresolved_reference']],
    ],
    ['downstream_reference', { inputs: { text: '{{gate_1.x}}' } }, [['inputs.text', 'downstream_reference']]],
    ['required_field_missing', { inputs: { text: '' } }, [['inputs.text', 'required_field_missing']]],
    [
      'deprecated_format',
      { inputs: { text: 'x' }, run_if: { variable: '{{input.email}}', operator: 'is empty' } },
      [['run_if', 'deprecated_format']],
    ],
    [
      'deprecated_field',
      { inputs: { text: 'x' }, continue_workflow_on_failure: true },
      [['continue_workflow_on_failure', 'deprecated_field']],
    ],
    [
      'env_variable_unavailable',
      { inputs: { text: '{{env.KEY}}' } },
      [['inputs.text', 'env_variable_unavailable']],
    ],
    [
      'env_not_supported_in_conditions',
      { inputs: { text: 'x' }, run_if: when('{{env.KEY}}') },
      [['run_if.conditions[0].conditions[0]', 'env_not_supported_in_conditions']],
    ],
    [
      'several at once, each once',
      { inputs: { text: '{{input.a}}{{input.a}}', other: '{{x}}', size: 1 } },
      [
        ['inputs.size', 'unknown_field'],
        ['inputs.text', 'unresolved_reference'],
        ['inputs.other', 'unresolved_reference'],
      ],
    ],
  ])('warning %s', async (_name, body, expected) => {
    const chain = await chainWith('probe', 'gate')
    expect(codesOf(await chain.configure('probe_1', body))).toEqual(expected)
  })

  it.each<[string, unknown[], [string, string][]]>([
    ['ambiguous_provider', ['Twin'], [['inputs.providers[0]', 'ambiguous_provider']]],
    [
      'unsupported_own_key',
      [{ name: 'Beta', use_own_key: true }],
      [['inputs.providers[0]', 'unsupported_own_key']],
    ],
    [
      'own_key_required, not connected',
      [{ name: 'Alpha', use_own_key: true }],
      [
        ['inputs.providers', 'provider_not_configured'],
        ['inputs.providers[0]', 'own_key_required'],
      ],
    ],
    ['own_key_required, not asked for', ['Alpha', 'Gamma'], [['inputs.providers[1]', 'own_key_required']]],
  ])('warning %s', async (_name, providers, expected) => {
    const chain = await chainWith('finder')
    expect(codesOf(await chain.configure('finder_1', { inputs: { url: 'x', providers } }))).toEqual(expected)
  })

  it('problems that were there before are reported again, also when nothing is changed', async () => {
    const chain = await chainWith('probe')
    expect(codesOf(await chain.configure('probe_1', {}))).toEqual([['inputs.text', 'required_field_missing']])
  })

  it('D60: operators are those of the stored type of the variable', async () => {
    const chain = await chainWith('probe', 'caller', 'gate')
    const verdict = async (variable: string, operator: string) =>
      (await chain.call('PATCH', '/gate_1', { run_if: when(variable, operator, ['1']) })).status
    expect(await verdict('{{input.email}}', 'greater than')).toBe(400)
    expect(await verdict('{{input.email}}', 'starts with')).toBe(200)
    expect(await verdict('{{probe_1.score}}', 'greater than')).toBe(200)
    expect(await verdict('{{probe_1.score}}', 'contains')).toBe(400)
    expect(await verdict('{{probe_1.people}}', 'contains')).toBe(200)
    expect(await verdict('{{probe_1.people}}', 'starts with')).toBe(400)
    expect(await verdict('{{probe_1.fits}}', 'contains')).toBe(400)
    expect(await verdict('{{probe_1.computed}}', 'greater than')).toBe(200)
    expect(await verdict('{{caller_1.anything}}', 'is after')).toBe(200)
    expect(await verdict('{{input.gone}}', 'is after')).toBe(200)
  })

  it('a condition of environment variables only: a PATCH says what stands now, and Add adds nothing', async () => {
    const chain = await chainWith('gate')
    const wordsOf = async (run_if: unknown) => (await chain.configure('gate_1', { run_if }))[0]?.message
    expect(await wordsOf(when('{{env.KEY}}'))).toMatch(/not saved, and the action runs on every row$/)
    await chain.configure('gate_1', { run_if: when('{{input.email}}') })
    expect(await wordsOf(when('{{env.KEY}}'))).toMatch(
      /not saved, and the conditions from before still stand$/,
    )
    expect((await chain.node('gate_1')).run_if).toEqual(when('{{input.email}}'))

    const before = await chain.definition()
    const refused = await chain.call('POST', '/add', { action_id: 'gate', run_if: when('{{env.KEY}}') })
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [
        {
          field: 'run_if.conditions[0].conditions[0]',
          message: expect.stringContaining('would run on every row'),
        },
      ],
    ])
    expect(await chain.definition()).toEqual(before)
  })

  it('D87: date operators take texts', async () => {
    const chain = await chainWith('gate')
    for (const operator of ['is after', 'is before'])
      await chain.configure('gate_1', { run_if: when('{{input.email}}', operator, ['2026-01-31']) })
    const between = when('{{input.email}}', 'is between', ['2026-01-01', '2026-01-31T12:00:00Z'])
    await chain.configure('gate_1', { run_if: between })
    expect((await chain.node('gate_1')).run_if).toEqual(between)
  })

  it.each([
    ['probe', 'format', { fields: [{ name: 'born', type: 'date' }] }],
    ['probe', 'format', { json: { type: 'object' } }],
    ['probe', 'pairs', [{ key: 'a', value: 'b' }]],
    ['probe', 'tags', ['x', '{{input.email}}']],
    ['probe', 'amount', '5'],
    ['probe', 'flag', true],
    ['probe', 'mode', 'fast'],
    ['probe', 'only_if', when('{{input.email}}').conditions],
    ['finder', 'providers', ['Alpha', { name: 'Beta', use_own_key: true }]],
  ])('D87: %s takes %s back as Get Action shows it, which changes nothing', async (action, field, value) => {
    const chain = await chainWith(action)
    await chain.configure(`${action}_1`, { inputs: { [field]: value } })
    const saved = (await chain.definition()).actions
    const shown = (await chain.node(`${action}_1`)).inputs
    expect(shown).toHaveProperty(field)
    await chain.configure(`${action}_1`, { inputs: shown })
    expect((await chain.definition()).actions).toEqual(saved)
  })

  it.each<[string, unknown, string[]]>([
    ['no body', undefined, ['body']],
    ['an array', [], ['body']],
    ['inputs that are a list', { inputs: [] }, ['inputs']],
    ['inputs that are null', { inputs: null }, ['inputs']],
    [
      'a flag that is text',
      { continue_workflow_if_action_fails: 'true' },
      ['continue_workflow_if_action_fails'],
    ],
    ['a note that is null', { note: null }, ['note']],
    ['run_if that is a list', { run_if: [] }, ['run_if']],
    ['NUL in a value', { inputs: { pairs: [{ name: 'a', value: 'x\0' }] } }, ['inputs.pairs[0].value']],
    ['half of a surrogate pair', { inputs: { text: '\ud800' } }, ['inputs.text']],
    ['NUL in a key', { inputs: { pairs: [{ name: 'a', value: 'b', 'a\0': 'x' }] } }, ['inputs.pairs[0]']],
    [
      'NUL in a condition',
      { run_if: when('{{input.email}}', 'is', ['\0']) },
      ['run_if.conditions[0].conditions[0].values[0]'],
    ],
    [
      'shape and configuration at once',
      { note: 5, inputs: { text: 5, mode: 'x' }, run_if: when('{{input.email}}', 'less than', ['1']) },
      ['note', 'inputs.text', 'inputs.mode', 'run_if.conditions[0].conditions[0].operator'],
    ],
    [
      'configuration behind a shape',
      { inputs: 5, run_if: { conditions: [] } },
      ['inputs', 'run_if.conditions'],
    ],
  ])('400 %s, and nothing is saved', async (_name, body, fields) => {
    const chain = await chainWith('probe')
    const before = [await chain.definition(), await chain.updatedAt()]
    expect(fieldsOf(await chain.call('PATCH', '/probe_1', body))).toEqual(fields)
    expect([await chain.definition(), await chain.updatedAt()]).toEqual(before)
  })

  it('keys such as __proto__ and constructor change nothing', async () => {
    const chain = await chainWith('probe')
    const body =
      '{"inputs":{"__proto__":{"text":"x"},"constructor":"x","text":"ok","pairs":[{"__proto__":"p","name":"n"}]}}'
    expect((await chain.call('PATCH', '/probe_1', body)).status).toBe(200)
    expect((await chain.node('probe_1')).inputs.text).toBe('ok')
    expect(Object.getPrototypeOf((await chain.definition()).actions[0]?.inputs)).toBe(Object.prototype)
  })
})

describe('D26: cache epochs and updated_at', () => {
  const changes: [string, (chain: TestChain) => Promise<unknown>, number[], boolean][] = [
    ['a value', (chain) => chain.configure('probe_1', { inputs: { text: 'a ' } }), [0, 2, 2], true],
    ['a cleared value', (chain) => chain.configure('probe_1', { inputs: { text: null } }), [0, 2, 2], true],
    [
      'a run condition',
      (chain) => chain.configure('gate_1', { run_if: when('{{input.email}}') }),
      [1, 2, 2],
      true,
    ],
    [
      'the continue flag',
      (chain) => chain.configure('gate_2', { continue_workflow_if_action_fails: true }),
      [0, 1, 2],
      true,
    ],
    ['the same value', (chain) => chain.configure('probe_1', { inputs: { text: 'a' } }), [0, 1, 1], false],
    ['{}', (chain) => chain.configure('probe_1', {}), [0, 1, 1], false],
    ['run_if: {}', (chain) => chain.configure('probe_1', { run_if: {} }), [0, 1, 1], false],
    [
      'run_if: null where there is none',
      (chain) => chain.configure('probe_1', { run_if: null }),
      [0, 1, 1],
      false,
    ],
    ['an unknown field', (chain) => chain.configure('probe_1', { inputs: { size: 1 } }), [0, 1, 1], false],
    ['a note', (chain) => chain.configure('probe_1', { note: 'x' }), [0, 1, 1], true],
    ['notes', (chain) => chain.call('POST', '/probe_1/notes', { note: 'x' }), [0, 1, 1], true],
    ['a name', (chain) => chain.call('PATCH', '/probe_1/name', { name: 'x' }), [0, 1, 1], true],
    ['the same name', (chain) => chain.call('PATCH', '/probe_1/name', { name: 'Probe' }), [0, 1, 1], false],
    ['a move', (chain) => chain.call('PATCH', '/probe_1/move', { after: 'input' }), [1, 0, 1], true],
    [
      'a move to where it is',
      (chain) => chain.call('PATCH', '/probe_1/move', { after: 'gate_1' }),
      [0, 1, 1],
      false,
    ],
    ['adding', (chain) => chain.add('gate', { after: 'input' }), [0, 0, 1, 1], true],
    ['deleting', (chain) => chain.call('DELETE', '/gate_1'), [2, 2], true],
    ['reading', (chain) => chain.call('GET', '/probe_1/outputs'), [0, 1, 1], false],
  ]
  it.each(changes)('%s', async (_name, change, epochs, touched) => {
    const chain = await chainWith('gate', 'probe', 'gate')
    await chain.configure('probe_1', { inputs: { text: 'a' } })
    const start = [await chain.updatedAt(), (await chain.audit()).length] as const
    expect(await chain.epochs()).toEqual([0, 1, 1])
    await change(chain)
    expect(await chain.epochs()).toEqual(epochs)
    expect((await chain.updatedAt()) > start[0]).toBe(touched)
    expect((await chain.audit()).length - start[1]).toBe(touched ? 1 : 0)
  })
})
