import { describe, expect, it } from 'vitest'
import { finder, testCatalogue } from '#test/builders/catalogue.ts'
import type { ActionInstance, Definition } from '../chain/definition.ts'
import { type DiscoveredOutputs, viewChain } from './chain-view.ts'
import type { ConfigurationEnvironment } from './environment.ts'
import { listDependents, toGraphNode } from './node.ts'
import { checkConfiguration } from './warnings.ts'

const NOTHING: ConfigurationEnvironment = {
  envKeys: new Set(),
  connectionsOf: () => 0,
  hasKey: () => false,
  hasAddress: () => false,
}

const instance = (id: string, more: Partial<ActionInstance> = {}): ActionInstance => ({
  id,
  action_id: id.replace(/_\d+$/, ''),
  display_name: id,
  inputs: {},
  epoch: 0,
  ...more,
})

/** Returns a chain of probe_1, caller_1, the action under test and probe_3. */
function chainWith(action: ActionInstance): Definition {
  const inputs = [
    { column: 1, name: 'email', type: 'email' as const, description: '' },
    { column: 2, name: 'a.b', type: 'string' as const, description: '' },
  ]
  return { inputs, actions: [instance('probe_1'), instance('caller_1'), action, instance('probe_3')] }
}

function problems(
  action: ActionInstance,
  environment: Partial<ConfigurationEnvironment> = {},
  discovered: DiscoveredOutputs = new Map(),
): [string, string][] {
  const chain = viewChain(chainWith(action), testCatalogue, discovered)
  return checkConfiguration(action, chain, { ...NOTHING, ...environment }).map(({ field, code }) => [
    field,
    code,
  ])
}

const withText = (text: string) => instance('probe_2', { inputs: { text } })
const UNRESOLVED = 'unresolved_reference'

describe('references', () => {
  it.each<[string, string | null]>([
    ['plain text', null],
    ['{{input.email}} and {{input.a.b}}', null],
    ['{{input.Email}}', UNRESOLVED],
    ['{{input.gone}}', UNRESOLVED],
    ['{{probe_1.summary}}', null],
    ['{{probe_1.sumary}}', UNRESOLVED],
    ['{{probe_1.constructor}}', UNRESOLVED],
    ['{{probe.summary}}', UNRESOLVED],
    ['{{probe_9.summary}}', UNRESOLVED],
    ['{{probe_1.people.email}}', null],
    ['{{probe_1.people.phone}}', UNRESOLVED],
    ['{{probe_1.loose.anything}}', null],
    ['{{probe_1.summary.part}}', UNRESOLVED],
    ['{{probe_1.found.part}}', null],
    ['{{probe_1.computed.part}}', null],
    ['{{probe_1.gone.part}}', UNRESOLVED],
    ['{{caller_1.status_code}}', null],
    ['{{caller_1.not_seen_yet}}', null],
    ['{{caller_1.list.column}}', null],
    ['{{probe_2.summary}}', 'downstream_reference'],
    ['{{probe_3.summary}}', 'downstream_reference'],
    ['{{probe_3.gone}}', 'downstream_reference'],
    ['{{foo}}', UNRESOLVED],
    ['{{input.email}', UNRESOLVED],
    ['Dear {{ }}', UNRESOLVED],
    ['{{env.KEY}}', 'env_variable_unavailable'],
  ])('%s', (text, code) => {
    expect(problems(withText(text))).toEqual(code === null ? [] : [['inputs.text', code]])
  })

  it.each<[string, string]>([
    ['{{input.Email}}', '{{input.Email}} does not exist; did you mean {{input.email}}?'],
    ['{{input.emial}}', '{{input.emial}} does not exist; did you mean {{input.email}}?'],
    ['{{inputs.email}}', '{{inputs.email}} does not exist; did you mean {{input.email}}?'],
    ['{{ email }}', '{{ email }} is not a reference; did you mean {{input.email}}?'],
    ['{{input.email}', '{{input.email} is not a reference; did you mean {{input.email}}?'],
    ['{{summary}}', '{{summary}} is not a reference; did you mean {{probe_1.summary}}?'],
    ['{{probe_1.sumary}}', '{{probe_1.sumary}} does not exist; did you mean {{probe_1.summary}}?'],
    ['{{probe.summary}}', '{{probe.summary}} does not exist; did you mean {{probe_1.summary}}?'],
    [
      '{{probe_1.people.emial}}',
      '{{probe_1.people.emial}} does not exist; did you mean {{probe_1.people.email}}?',
    ],
    [
      '{{env.KYE}}',
      '{{env.KYE}} has no value here; rows are errors until it is set; did you mean {{env.KEY}}?',
    ],
    ['{{input.phone}}', '{{input.phone}} does not exist'],
    ['{{probe_1.summary.part}}', '{{probe_1.summary.part}} does not exist'],
    ['{{probe_3.sumary}}', '{{probe_3.sumary}} is not there yet when this action runs'],
    ['{{ }}', '{{ }} is not a reference'],
  ])('%s gets "did you mean" where something near is there: %s', (text, message) => {
    const action = withText(text)
    const chain = viewChain(chainWith(action), testCatalogue, new Map())
    const found = checkConfiguration(action, chain, { ...NOTHING, envKeys: new Set(['KEY']) })
    expect(found.map((warning) => warning.message)).toEqual([message])
  })

  it('are found wherever they stand, each once', () => {
    const action = instance('probe_2', {
      inputs: {
        text: '{{input.x}} {{input.x}} {{input.y}}',
        pairs: [{ name: 'n', value: '{{input.z}}', label: '{{probe_3.score}}' }],
        only_if: [{ conditions: [{ variable: '{{input.q}}', operator: 'is', values: ['{{input.r}}'] }] }],
      },
      run_if: {
        conditions: [
          { conditions: [{ variable: '{{input.s}}', operator: 'is', values: ['{{probe_2.score}}'] }] },
        ],
      },
    })
    expect(problems(action)).toEqual([
      ['inputs.text', UNRESOLVED],
      ['inputs.text', UNRESOLVED],
      ['inputs.pairs[0].value', UNRESOLVED],
      ['inputs.pairs[0].label', 'downstream_reference'],
      ['inputs.only_if[0].conditions[0].variable', UNRESOLVED],
      ['inputs.only_if[0].conditions[0].values[0]', UNRESOLVED],
      ['run_if.conditions[0].conditions[0].variable', UNRESOLVED],
      ['run_if.conditions[0].conditions[0].values[0]', 'downstream_reference'],
    ])
  })

  it('a variable of plain text is not a reference', () => {
    const conditions = [{ conditions: [{ variable: 'email', operator: 'is empty' as const }] }]
    const action = instance('probe_2', { inputs: { text: 'x', only_if: conditions }, run_if: { conditions } })
    expect(problems(action)).toEqual([
      ['inputs.only_if[0].conditions[0].variable', UNRESOLVED],
      ['run_if.conditions[0].conditions[0].variable', UNRESOLVED],
    ])
  })

  it('D65: variables of conditions over another sheet are of that sheet, their values of this row', () => {
    const lookup = [
      { conditions: [{ variable: '{{probe_9.theirs}}', operator: 'is', values: ['{{input.gone}}'] }] },
    ]
    expect(problems(instance('probe_2', { inputs: { text: 'x', lookup } }))).toEqual([
      ['inputs.lookup', UNRESOLVED],
    ])
  })

  it('once a run has shown the outputs of a dynamic action, only those are known', () => {
    const discovered = new Map([
      [
        'caller_1',
        [
          {
            name: 'items',
            type: 'structured_array' as const,
            columns: [{ name: 'id', type: 'number' as const }],
          },
          { name: 'total', type: 'number' as const },
        ],
      ],
    ])
    const text =
      '{{caller_1.total}} {{caller_1.items.id}} {{caller_1.status_code}} {{caller_1.totl}} {{caller_1.items.name}}'
    expect(problems(withText(text), {}, discovered)).toEqual([
      ['inputs.text', UNRESOLVED],
      ['inputs.text', UNRESOLVED],
    ])
  })

  it('a variable that has a value here is no problem', () => {
    expect(problems(withText('{{env.KEY}}{{env.OTHER}}'), { envKeys: new Set(['KEY']) })).toEqual([
      ['inputs.text', 'env_variable_unavailable'],
    ])
  })

  it('an action whose template no longer exists may have any output, and its own inputs are not checked', () => {
    const chain = {
      inputs: [],
      actions: [instance('gone_1'), instance('probe_2', { inputs: { text: '{{gone_1.x}}' } })],
    }
    const view = viewChain(chain, testCatalogue, new Map())
    expect(chain.actions.map((action) => checkConfiguration(action, view, NOTHING))).toEqual([[], []])
  })
})

describe('required_field_missing', () => {
  const code = 'required_field_missing'
  it.each<[string, ActionInstance, string[]]>([
    ['not set', instance('probe_2'), ['inputs.text']],
    ['empty text', instance('probe_2', { inputs: { text: '' } }), ['inputs.text']],
    ['set', instance('probe_2', { inputs: { text: ' ' } }), []],
    ['none of what is enough', instance('finder_1'), ['inputs']],
    ['half of a pair', instance('finder_1', { inputs: { name: 'a' } }), ['inputs']],
    ['the pair, half of it empty', instance('finder_1', { inputs: { name: 'a', domain: '' } }), ['inputs']],
    ['the pair', instance('finder_1', { inputs: { name: 'a', domain: 'b' } }), []],
    ['the one', instance('finder_1', { inputs: { url: 'a' } }), []],
  ])('%s', (_name, action, fields) => {
    expect(problems(action)).toEqual(fields.map((field) => [field, code]))
  })
})

describe('own keys', () => {
  const steps = (...providers: [string, boolean][]) =>
    instance('finder_1', {
      inputs: { url: 'u', providers: providers.map(([provider, own_key]) => ({ provider, own_key })) },
    })
  it.each<[string, ActionInstance, number, [string, string][]]>([
    ['not asked for', steps(['alpha', false]), 0, []],
    [
      'asked for without a connection',
      steps(['beta', false], ['alpha', true]),
      0,
      [['inputs.providers[1]', 'own_key_required']],
    ],
    ['asked for with one', steps(['alpha', true]), 1, []],
    ['asked for with several', steps(['alpha', true]), 2, [['inputs.providers[0]', 'ambiguous_provider']]],
    [
      'required and not asked for',
      steps(['alpha', false], ['gamma', false]),
      1,
      [['inputs.providers[1]', 'own_key_required']],
    ],
    ['required and there', steps(['gamma', true]), 1, []],
    ['of a provider that is gone', steps(['omega', true]), 0, [['inputs.providers[0]', 'own_key_required']]],
  ])('%s', (_name, action, connections, expected) => {
    expect(problems(action, { connectionsOf: () => connections })).toEqual(expected)
  })
})

describe('public form', () => {
  it('provider names, output_format as its discriminator, fields in the order of the template', () => {
    const action = instance('finder_1', {
      inputs: {
        providers: [
          { provider: 'alpha', own_key: true },
          { provider: 'omega', own_key: false },
        ],
        url: 'u',
      },
    })
    const view = viewChain(chainWith(action), testCatalogue, new Map())
    const node = toGraphNode(action, view)
    expect(node.inputs).toEqual({ url: 'u', providers: [{ name: 'Alpha', use_own_key: true }, 'omega'] })
    expect(Object.keys(node.inputs ?? {})).toEqual(
      Object.keys(finder.inputs).filter((name) => name in action.inputs),
    )
    const shaped = instance('probe_2', { inputs: { format: { json: {} } } })
    expect(toGraphNode(shaped, viewChain(chainWith(shaped), testCatalogue, new Map())).inputs).toEqual({
      format: 'json',
    })
  })

  it('dependants are those whose references name the action, not those that name another sheet', () => {
    const reference = '{{probe_2.score}}'
    const run_if = {
      conditions: [{ conditions: [{ variable: reference, operator: 'is' as const, values: ['1'] }] }],
    }
    const lookup = (variable: string, value: string) => [
      { conditions: [{ variable, operator: 'is', values: [value] }] },
    ]
    const actions = [
      instance('probe_1', { inputs: { text: 'x', other: reference } }),
      instance('probe_3', { inputs: { lookup: lookup(reference, 'x') } }),
      instance('probe_4', { inputs: { lookup: lookup('{{input.x}}', '{{probe_2.people.name}}') }, run_if }),
      instance('probe_22', { inputs: { text: '{{probe_22.score}} {{input.probe_2.score}}' } }),
    ]
    expect(listDependents('probe_2', { inputs: [], actions }, testCatalogue)).toEqual([
      { action_instance_id: 'probe_1', inputs: { other: reference } },
      {
        action_instance_id: 'probe_4',
        inputs: { lookup: lookup('{{input.x}}', '{{probe_2.people.name}}'), run_if },
      },
    ])
  })
})
