import { describe, expect, it } from 'vitest'
import { viewAction } from '#server/catalog/catalogue-entry.ts'
import { addTexts } from '#server/catalog/configuration/warning-texts.ts'
import type { Field } from '#server/catalog/fields/field.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { findChanges, hasChanges, NO_CHANGES } from '../../dashboard/src/screens/sheet/panels/draft.ts'
import { readExample } from '../../dashboard/src/screens/sheet/panels/fields/answer-rows.ts'
import { printField, readField } from '../../dashboard/src/screens/sheet/panels/fields/read-field.ts'
import { readPairs, renamePair } from '../../dashboard/src/screens/sheet/panels/fields/values.ts'
import { listWarnings } from '../../dashboard/src/screens/sheet/panels/panel-warnings.ts'

const catalogue = await loadCatalogue()
const actions = catalogue.list().map((action) => ({ action, view: viewAction(action) }))
const fields = actions.flatMap(({ action, view }) =>
  view.inputs.map((input) => ({
    name: `${view.action_id}.${input.name}`,
    input,
    field: fieldOf(action.inputs, input.name),
    declared: view.outputs.map(({ name }) => name),
  })),
)

function fieldOf(inputs: Record<string, Field>, name: string): Field {
  const field = inputs[name]
  if (field === undefined) throw new Error(`there is no field ${name}`)
  return field
}

const GROUPS = [
  {
    conditions: [
      { variable: '{{input.a}}', operator: 'is', values: ['x, y'] },
      { variable: '{{input.b}}', operator: 'is between', values: ['1', '2'], combinator: 'OR' },
    ],
  },
  { conditions: [{ variable: 'a {{input.a}}', operator: 'is empty' }], combinator: 'OR' },
]

/** Values that the API may have been given, usual and odd ones. Each field takes some of them. */
const VALUES: unknown[] = [
  '',
  ' ',
  'plain',
  '{{input.a}}',
  'a\r\nb {{input.a}}\n',
  '{{ input.First Name }} {{x',
  '{"a": 1}',
  '30',
  'GET',
  'contact',
  '=1+1',
  '2026-01-31',
  true,
  false,
  12,
  null,
  [],
  ['a'],
  ['{{input.a}}', ''],
  ['a', 1],
  [1, true, null],
  [['nested']],
  [{ b: 1 }],
  [{ name: 'a', value: 'b' }],
  [{ name: 'a', value: '{{input.a}}', label: 'Another', note: 'kept' }],
  [
    { name: '', value: '' },
    { name: 'twice', value: '1' },
    { name: 'twice', value: '2' },
  ],
  [{ name: 'a', value: 5 }],
  [{ name: 'a', value: { deep: ['{{input.a}}'] } }],
  JSON.parse('[{"name": "__proto__", "value": "x", "__proto__": "y"}]'),
  { a: 'b', c: '{{input.a}}' },
  { a: { b: [1, null] } },
  GROUPS,
  [{ conditions: [{ variable: '{{input.a}}', operator: 'greater than', values: [5] }] }],
  { fields: [{ name: 'a', type: 'number', description: 'Words' }] },
  {
    fields: [
      { name: 'size', choices: ['S', 'M'] },
      { name: 'any', type: 'json' },
    ],
  },
  { json: { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } } },
]

/** Returns a value with what the server takes for the same: the combinator that is usual, and no empty values. */
function normalise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalise)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [key, normalise(part)])
  const isCondition = 'conditions' in value || 'operator' in value
  return { ...(isCondition ? { combinator: 'AND' } : {}), ...Object.fromEntries(entries) }
}

describe('H3: nothing that the API takes is lost by opening and saving a panel', () => {
  it.each(fields)('$name', ({ input, field, declared }) => {
    const around = { node: null, declared }
    const firstOption = input.options?.[0] ?? input.providers?.slice(0, 2)
    const own = input.providers?.[0]
    const steps = own === undefined ? [] : [[{ name: own, use_own_key: true }], [own]]
    const kept = [...VALUES, firstOption, ...steps].flatMap((raw) => {
      const checked = field.check(raw, input.name, undefined)
      return checked.kind === 'save' ? [checked.value] : []
    })
    expect(kept.length).toBeGreaterThan(0)
    for (const saved of kept) {
      // The shape of an answer is shown by a word only, so the panel holds what it was given instead.
      const shown = input.kind === 'answer_fields' || field.show === undefined ? saved : field.show(saved)
      const printed = printField(readField(input.kind, shown, around))
      const again = field.check(printed, input.name, saved)
      expect(again.kind === 'save' && normalise(again.value), JSON.stringify(shown)).toEqual(normalise(saved))
      // A control that holds text or lists returns them byte for byte.
      if (!['conditions', 'answer_fields'].includes(input.kind)) expect(printed).toEqual(shown)
    }
  })

  it('what a form cannot show stays JSON', () => {
    const odd = [{ name: 'a', value: { deep: 1 } }]
    const around = { node: null, declared: [] }
    expect(readField('pairs', odd, around)).toEqual({ as: 'json', value: odd })
    expect(readField('text', { a: 1 }, around)).toEqual({ as: 'json', value: { a: 1 } })
    expect(readField('list', ['a', 1], around)).toEqual({ as: 'json', value: ['a', 1] })
    const group = [{ conditions: [{ variable: 'x', operator: 'is', later: true }] }]
    expect(readField('conditions', group, around)).toEqual({ as: 'json', value: group })
  })

  it('an untouched panel changes nothing, and neither does a change that is taken back', () => {
    const saved = {
      display_name: 'Size',
      inputs: { text: 'a\r\nb', pairs: [{ name: 'a', value: '1', label: 'a' }], flag: false, off: null },
      run_if: { conditions: GROUPS, continue_workflow_if_run_condition_not_met: true },
      continue_workflow_if_action_fails: true,
      note: 'Why',
    }
    expect(hasChanges(saved, NO_CHANGES)).toBe(false)
    const around = { node: null, declared: [] }
    const inputs = {
      text: printField(readField('text', saved.inputs.text, around)),
      pairs: printField(readField('pairs', saved.inputs.pairs, around)),
      absent: null,
    }
    expect(findChanges(saved, { inputs })).toEqual({})
    expect(findChanges(saved, { inputs: { text: null }, groups: [], note: '' })).toEqual({
      inputs: { text: null },
      run_if: null,
      note: '',
    })
  })
})

it('a saved answer is edited from the outputs that it named, without those of the template', () => {
  const outputs = [
    { name: 'size', type: 'string' as const, reference: '', description: 'How large', choices: ['S', 'M'] },
    { name: 'citations', type: 'structured_array' as const, reference: '' },
  ]
  const shown = readField('answer_fields', 'fields', { node: { outputs }, declared: ['citations'] })
  expect(printField(shown)).toEqual({
    fields: [{ name: 'size', type: 'string', description: 'How large', choices: ['S', 'M'] }],
  })
  const schema = readField('answer_fields', 'json', { node: { outputs }, declared: ['citations'] })
  expect(schema).toMatchObject({ as: 'answer', shape: { kind: 'saved schema' } })
})

it.each([
  [
    '{"Company Name": "Acme", "site": "https://acme.example", "employees": 5, "old": true}',
    'company_name string, site url, employees number, old boolean',
  ],
  [
    '[{"email": "a@b.example", "tags": ["x"], "people": [{"a": 1}], "geo": {}}]',
    'email email, tags raw_array, people structured_array, geo json',
  ],
  ['industry: Retail\nfoundedOn: 2020-01-31\nscore: 7', 'industry string, founded_on date, score number'],
])('H3: an example becomes fields: %s', (text, wanted) => {
  expect(
    readExample(text)
      ?.map(({ name, type }) => `${name} ${type}`)
      .join(', '),
  ).toBe(wanted)
})

it.each(['', 'nothing here', '"text"', '[]'])('H3: %j is no example', (text) => {
  expect(readExample(text)).toBeNull()
})

it('a label that repeats the name of a pair follows it, and another one stays', () => {
  const [own, other] =
    readPairs([
      { name: 'a', value: '1', label: 'a' },
      { name: 'b', value: '2', label: 'Words' },
    ]) ?? []
  expect(own && renamePair(own, 'c')).toEqual({ name: 'c', value: '1', rest: {} })
  expect(other && renamePair(other, 'c').rest).toEqual({ label: 'Words' })
})

it('H1: the panel asks for an empty field in the words of the server', () => {
  for (const { action, view } of actions) {
    const required = view.inputs.filter((input) => input.required)
    const raw = required.map(({ name }) => ({
      field: `inputs.${name}`,
      code: 'required_field_missing',
      message: 'this field is required',
    }))
    const wanted = addTexts(raw, action).map(({ text }) => text)
    const { needs } = view
    const asked = listWarnings(view, {}, { saved: [], changed: [] })
    expect(asked.map(({ text }) => text).slice(0, required.length), view.action_id).toEqual(wanted)
    expect(asked.length).toBe(required.length + (needs.length > 0 ? 1 : 0))
    for (const { text } of asked) expect(text).not.toMatch(/_|\{|inputs/)
  }
})
