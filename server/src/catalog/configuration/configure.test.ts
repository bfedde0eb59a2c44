import { describe, expect, it } from 'vitest'
import { type Configuration, MAX_CONFIGURATION } from '#contract/actions.ts'
import { finder, probe } from '#test/builders/catalogue.ts'
import type { ActionInstance } from '../chain/definition.ts'
import type { Action } from '../define.ts'
import { configureAction, type Configured } from './configure.ts'

const TYPES: Record<string, string> = { age: 'number', name: 'string', fits: 'boolean' }
const fresh = (template: Action, more: Partial<ActionInstance> = {}): ActionInstance => ({
  id: `${template.id}_1`,
  action_id: template.id,
  display_name: template.name,
  inputs: {},
  epoch: 0,
  ...more,
})

function configure(given: Configuration, more: Partial<ActionInstance> = {}, template = probe): Configured {
  return configureAction(fresh(template, more), template, given, (token) =>
    token.kind === 'input' ? TYPES[token.name] : undefined,
  )
}

const set = (inputs: Record<string, unknown>, before = {}, template = probe) =>
  configure({ inputs }, { inputs: before }, template)
const leaf = (variable: string, operator = 'is', values = ['1']) => ({ variable, operator, values })
const groups = (...leaves: unknown[]) => [{ conditions: leaves }]

describe('4.5 Configure Action: value types', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['a literal', { text: 'Hello' }, { text: 'Hello' }],
    ['a token', { text: '{{input.name}}' }, { text: '{{input.name}}' }],
    ['a mix, whitespace kept', { text: ' Hi {{input.name}}! ' }, { text: ' Hi {{input.name}}! ' }],
    ['the empty text', { text: '' }, { text: '' }],
    ['a quoted number', { amount: '12.5' }, { amount: '12.5' }],
    ['a token for a number', { amount: '{{input.age}}' }, { amount: '{{input.age}}' }],
    ['true', { flag: true }, { flag: true }],
    ['false', { flag: false }, { flag: false }],
    ['a word', { mode: 'slow' }, { mode: 'slow' }],
    ['an array of strings', { tags: ['a', '{{input.name}}'] }, { tags: ['a', '{{input.name}}'] }],
    [
      'a jsonArray: `label` is set to the name, labels of the caller are kept',
      { pairs: [{ name: 'a', value: '1' }, { name: 'b', value: '2', label: 'B' }, {}] },
      {
        pairs: [{ name: 'a', value: '1', label: 'a' }, { name: 'b', value: '2', label: 'B' }, {}],
      },
    ],
    [
      'D76: a jsonArray of keys and values',
      { pairs: [{ key: 'a', value: '{{input.name}}' }] },
      { pairs: [{ name: 'a', value: '{{input.name}}', label: 'a' }] },
    ],
    [
      'D76: a plain object in place of a jsonArray',
      { pairs: { a: '{{input.name}}', b: 2 } },
      {
        pairs: [
          { name: 'a', value: '{{input.name}}', label: 'a' },
          { name: 'b', value: 2, label: 'b' },
        ],
      },
    ],
    [
      'condition groups',
      { only_if: groups(leaf('{{input.name}}', 'contains', ['x'])) },
      { only_if: groups(leaf('{{input.name}}', 'contains', ['x'])) },
    ],
    [
      'an output format by fields',
      { format: { fields: [{ name: 'title' }] } },
      { format: { fields: [{ name: 'title', type: 'string', description: '' }] } },
    ],
    [
      'an output format by schema',
      { format: { json: { type: 'object' } } },
      { format: { json: { type: 'object' } } },
    ],
  ])('%s', (_name, given, inputs) => {
    expect(set(given)).toMatchObject({ action: { inputs }, warnings: [], errors: [] })
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['text that is a number', { text: 5 }, 'inputs.text'],
    ['a boolean for text', { text: true }, 'inputs.text'],
    ['an array for text', { text: ['a'] }, 'inputs.text'],
    ['a number that is none', { amount: 'many' }, 'inputs.amount'],
    ['a number out of range', { amount: '101' }, 'inputs.amount'],
    ['a toggle that is an object', { flag: {} }, 'inputs.flag'],
    ['an unknown word', { mode: 'medium' }, 'inputs.mode'],
    ['a list with a number', { tags: ['a', 1] }, 'inputs.tags[1]'],
    ['a jsonArray of texts', { pairs: ['a'] }, 'inputs.pairs[0]'],
    ['D76: a jsonArray that is text', { pairs: 'a: 1' }, 'inputs.pairs'],
    ['D76: an item of another shape', { pairs: [{ Accept: 'text/plain' }] }, 'inputs.pairs[0]'],
    ['D76: a name that is no text', { pairs: [{ name: 5, value: 'x' }] }, 'inputs.pairs[0]'],
    ['conditions that are an object', { only_if: {} }, 'inputs.only_if'],
    [
      'an unknown operator',
      { only_if: groups(leaf('{{input.name}}', 'equals')) },
      'inputs.only_if[0].conditions[0].operator',
    ],
    [
      'an operator that the type lacks',
      { only_if: groups(leaf('{{input.name}}', 'less than')) },
      'inputs.only_if[0].conditions[0].operator',
    ],
    ['both forms of an output format', { format: { fields: [], json: {} } }, 'inputs.format'],
    ['an unknown provider', { providers: ['Alpha', 'Omega'] }, 'inputs.providers[1]'],
    ['a provider twice', { providers: ['Alpha', 'alpha'] }, 'inputs.providers[1]'],
    ['a provider that is a number', { providers: [1] }, 'inputs.providers[0]'],
    [
      'an own key that is text',
      { providers: [{ name: 'Alpha', use_own_key: 'yes' }] },
      'inputs.providers[0]',
    ],
    ['providers as text', { providers: 'Alpha' }, 'inputs.providers'],
    ['more than an action holds', { text: 'x'.repeat(MAX_CONFIGURATION) }, 'inputs'],
  ])('D32: %s is refused', (_name, given, field) => {
    const template = 'providers' in given ? finder : probe
    expect(set(given, {}, template).errors.map((error) => error.field)).toEqual([field])
  })

  it('D76: an error of a rejected value names the right shape', () => {
    const [error] = set({ pairs: [{ Accept: 'text/plain' }] }).errors
    expect(error?.message).toBe('must be {"name": "...", "value": "..."}; this has only Accept')
  })

  it('every failure at once', () => {
    const { errors } = configure({
      inputs: { text: 1, mode: 'x', pairs: [1, {}, 2] },
      run_if: { conditions: [] },
    })
    expect(errors.map(({ field }) => field)).toEqual([
      'inputs.text',
      'inputs.mode',
      'inputs.pairs[0]',
      'inputs.pairs[2]',
      'run_if.conditions',
    ])
  })
})

describe('4.5 Configure Action: merging', () => {
  const before = { text: 'a', other: 'b' }

  it('unset fields keep their values; null clears one', () => {
    expect(set({ other: 'c' }, before).action.inputs).toEqual({ text: 'a', other: 'c' })
    expect(set({ other: null }, before).action.inputs).toEqual({ text: 'a' })
    expect(set({}, before).action).toEqual(fresh(probe, { inputs: before }))
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['an unknown field', { colour: 'red' }, 'inputs.colour'],
    ['an unknown field that is null', { colour: null }, 'inputs.colour'],
    ['a name that every object has', { constructor: 'x' }, 'inputs.constructor'],
    ['a raw JSON number', { amount: 5 }, 'inputs.amount'],
    ['the text "true" for a toggle', { flag: 'true' }, 'inputs.flag'],
  ])('%s is ignored with warning unknown_field and the field keeps its old value', (_name, given, field) => {
    const kept = { ...before, amount: '7', flag: true }
    const { action, warnings, errors } = set(given, kept)
    expect([action.inputs, errors]).toEqual([kept, []])
    expect(warnings).toEqual([{ field, code: 'unknown_field', message: expect.any(String) }])
  })

  it('for a template that no longer exists every field is unknown, and what was configured stays', () => {
    const { action, warnings } = configureAction(
      fresh(probe, { inputs: before }),
      undefined,
      { inputs: { text: 'x' } },
      () => undefined,
    )
    expect(action.inputs).toEqual(before)
    expect(warnings).toMatchObject([{ field: 'inputs.text', code: 'unknown_field' }])
  })

  it('a note is saved, and a blank one clears it', () => {
    expect(configure({ note: 'Hello' }).action.note).toBe('Hello')
    expect(configure({}, { note: 'Hello' }).action.note).toBe('Hello')
    expect(configure({ note: '' }, { note: 'Hello' }).action).not.toHaveProperty('note')
  })
})

describe('run_if', () => {
  const saved = { conditions: groups(leaf('{{input.name}}')) } as ActionInstance['run_if']
  const runIf = (run_if: Configuration['run_if'], before = {}) =>
    configure(run_if === undefined ? {} : { run_if }, before)

  it.each<[string, Configuration['run_if'], unknown]>([
    ['omitting leaves it', undefined, saved],
    ['{} is a no-op', {}, saved],
    ['null clears it', null, undefined],
    [
      'a new one replaces it',
      {
        conditions: groups(leaf('{{input.age}}', 'greater than')),
        continue_workflow_if_run_condition_not_met: true,
      },
      {
        conditions: groups(leaf('{{input.age}}', 'greater than')),
        continue_workflow_if_run_condition_not_met: true,
      },
    ],
  ])('%s', (_name, given, expected) => {
    const { action, warnings, errors } = runIf(given, { run_if: saved })
    expect([action.run_if, warnings, errors]).toEqual([expected, [], []])
    expect('run_if' in action).toBe(expected !== undefined)
  })

  it('the flat form is normalised, with warning deprecated_format', () => {
    const { action, warnings } = runIf({
      ...leaf('{{input.name}}'),
      continue_workflow_if_run_condition_not_met: true,
    })
    expect(action.run_if).toEqual({ ...saved, continue_workflow_if_run_condition_not_met: true })
    expect(warnings).toMatchObject([{ field: 'run_if', code: 'deprecated_format' }])
  })

  it.each<[string, Configuration['run_if'], string]>([
    [
      'an operator that the type lacks',
      { conditions: groups(leaf('{{input.fits}}', 'contains')) },
      'run_if.conditions[0].conditions[0].operator',
    ],
    ['the same in the flat form', leaf('{{input.fits}}', 'contains'), 'run_if.operator'],
    ['an unknown operator in the flat form', leaf('{{input.name}}', 'like'), 'run_if.operator'],
    ['a wrong shape', { conditions: 'x' }, 'run_if.conditions'],
  ])('%s is refused', (_name, given, field) => {
    expect(runIf(given).errors.map((error) => error.field)).toEqual([field])
  })

  it('D32: an unknown key is ignored with a warning, also in a filter', () => {
    const odd = { ...leaf('{{input.name}}'), foo: 1 }
    const { action, warnings, errors } = configure({
      run_if: { conditions: groups(odd), always: true },
      inputs: { only_if: groups(odd) },
    })
    const kept = groups(leaf('{{input.name}}'))
    expect([action.run_if, action.inputs['only_if'], errors]).toEqual([{ conditions: kept }, kept, []])
    expect(warnings.map(({ field, code }) => [field, code])).toEqual([
      ['inputs.only_if[0].conditions[0].foo', 'unknown_field'],
      ['run_if.conditions[0].conditions[0].foo', 'unknown_field'],
      ['run_if.always', 'unknown_field'],
    ])
  })

  it('D34: an unknown type takes every operator', () => {
    const given = {
      conditions: groups(leaf('{{caller_1.x}}', 'greater than'), leaf('{{input.new}}', 'is after')),
    }
    expect(runIf(given)).toMatchObject({ action: { run_if: given }, errors: [] })
  })
})

describe('conditions over environment variables are skipped rather than saved', () => {
  const env = leaf('{{env.STAGE}}')
  const envValue = leaf('{{input.name}}', 'is', ['{{env.STAGE}}'])
  const good = leaf('{{input.name}}')
  const code = 'env_not_supported_in_conditions'

  it('in run_if', () => {
    const { action, warnings } = configure({
      run_if: { conditions: [...groups(good, env), ...groups(envValue)] },
    })
    expect(action.run_if).toEqual({ conditions: groups(good) })
    expect(warnings).toMatchObject([
      { field: 'run_if.conditions[0].conditions[1]', code },
      { field: 'run_if.conditions[1].conditions[0]', code },
    ])
  })

  it('in a path_filter', () => {
    const { action, warnings } = set({ only_if: groups(env, good) })
    expect(action.inputs).toEqual({ only_if: groups(good) })
    expect(warnings).toMatchObject([{ field: 'inputs.only_if[0].conditions[0]', code }])
  })

  it('if none remains, the previous conditions stay', () => {
    const kept = {
      run_if: { conditions: groups(good) } as ActionInstance['run_if'],
      inputs: { only_if: groups(good) },
    }
    const { action, warnings } = configure(
      { run_if: env, inputs: { only_if: groups(env) } },
      kept as Partial<ActionInstance>,
    )
    expect(action).toMatchObject(kept)
    expect(warnings.map(({ field, code }) => [field, code])).toEqual([
      ['inputs.only_if[0].conditions[0]', code],
      ['run_if', 'deprecated_format'],
      ['run_if', code],
    ])
  })

  it('conditions over another sheet are not conditions of this row and may use them', () => {
    const lookup = groups(leaf('{{input.theirs}}', 'less than', ['{{env.STAGE}}']))
    expect(set({ lookup })).toMatchObject({ action: { inputs: { lookup } }, warnings: [], errors: [] })
  })
})

describe('the continue flag', () => {
  const OLD = 'continue_workflow_on_failure'
  it.each<[Configuration, boolean | undefined, number]>([
    [{}, undefined, 0],
    [{ continue_workflow_if_action_fails: false }, false, 0],
    [{ continue_workflow_on_failure: true }, true, 1],
    [{ continue_workflow_if_action_fails: false, continue_workflow_on_failure: true }, false, 1],
  ])('%j', (given, expected, warned) => {
    const { action, warnings } = configure(given)
    expect(action.continue_workflow_if_action_fails).toBe(expected)
    expect(warnings).toEqual(
      Array.from({ length: warned }, () => ({
        field: OLD,
        code: 'deprecated_field',
        message: expect.any(String),
      })),
    )
  })
})

describe('waterfalls', () => {
  const steps = (given: unknown[], before: unknown[] = []) =>
    set({ providers: given }, { providers: before }, finder)

  it('take display names in any case, and ids (D37), in order', () => {
    const { action, warnings } = steps(['gamma', 'ALPHA', ' Beta '])
    expect(action.inputs['providers']).toEqual([
      { provider: 'gamma', own_key: false },
      { provider: 'alpha', own_key: false },
      { provider: 'beta', own_key: false },
    ])
    expect(warnings).toEqual([])
  })

  it('plain names keep their existing key state; objects set it', () => {
    const before = [
      { provider: 'alpha', own_key: true },
      { provider: 'gamma', own_key: true },
    ]
    const { action } = steps([{ name: 'Gamma', use_own_key: false }, { name: 'Alpha' }], before)
    expect(action.inputs['providers']).toEqual([
      { provider: 'gamma', own_key: false },
      { provider: 'alpha', own_key: true },
    ])
    expect(steps([{ name: 'Alpha', use_own_key: true }]).action.inputs['providers']).toEqual([
      { provider: 'alpha', own_key: true },
    ])
  })

  it('unsupported_own_key: saved without it', () => {
    const { action, warnings } = steps(['Alpha', { name: 'Beta', use_own_key: true }])
    expect(action.inputs['providers']).toEqual([
      { provider: 'alpha', own_key: false },
      { provider: 'beta', own_key: false },
    ])
    expect(warnings).toMatchObject([{ field: 'inputs.providers[1]', code: 'unsupported_own_key' }])
  })

  it('ambiguous_provider: the first is taken', () => {
    const { action, warnings } = steps(['twin'])
    expect(action.inputs['providers']).toEqual([{ provider: 'twin_a', own_key: false }])
    expect(warnings).toMatchObject([{ field: 'inputs.providers[0]', code: 'ambiguous_provider' }])
    expect(steps(['twin_b']).action.inputs['providers']).toEqual([{ provider: 'twin_b', own_key: false }])
  })
})
