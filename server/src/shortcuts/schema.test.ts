import { expect, it } from 'vitest'
import type { InputColumn } from '../catalog/chain/definition.ts'
import { loadCatalogue } from '../catalog/registry.ts'
import { chooseInputs, chooseOutputs, deriveInputs, deriveOutputs } from './schema.ts'

const column = (column: number, name: string): InputColumn => ({
  column,
  name,
  type: 'string',
  description: '',
})
const output = (reference: string, name: string) => ({
  name,
  type: 'string' as const,
  reference: `{{${reference}}}`,
})

it('a reference is the snake_case name of its input, unique in the shortcut', () => {
  const derived = deriveInputs([column(1, 'First Name'), column(2, 'firstName'), column(3, '***')], [])
  expect(derived.map(({ reference }) => reference)).toEqual(['first_name', 'first_name_2', 'field'])
})

it('a field of the previous version keeps its name, even if the field with the plain name was deleted', () => {
  const before = deriveInputs([column(1, 'First Name'), column(2, 'firstName')], [])
  const after = deriveInputs([column(2, 'firstName'), column(3, 'first name')], before)
  expect(after.map(({ column, reference }) => [column, reference])).toEqual([
    [2, 'first_name_2'],
    [3, 'first_name'],
  ])
  const outputs = deriveOutputs([output('a_1.x', 'x'), output('b_1.x', 'x')], [])
  const next = deriveOutputs([output('c_1.x', 'x'), output('b_1.x', 'x')], outputs)
  expect(next.map(({ name }) => name)).toEqual(['x', 'x_2'])
})

it('an input is found by its reference, or else by its name, and may then get a custom reference', () => {
  const derived = deriveInputs([column(1, 'First Name'), column(2, 'Mail')], [])
  const { entries, errors } = chooseInputs(derived, [
    { reference: 'mail', name: 'Your address' },
    { reference: 'who', name: 'First Name' },
  ])
  expect(errors).toEqual([])
  expect(entries.map(({ column, reference, name }) => [column, reference, name])).toEqual([
    [2, 'mail', 'Your address'],
    [1, 'who', 'First Name'],
  ])
})

it('an output may be one that is known only after a run, or a column of a list; never one of an unknown action', async () => {
  const actions = ['http_api_call', 'normalize_domain'].map((action_id) => ({
    id: `${action_id}_1`,
    action_id,
    display_name: '',
    inputs: {},
    epoch: 0,
  }))
  const chain = { definition: { inputs: [], actions }, catalogue: await loadCatalogue() }
  const given = [
    'http_api_call_1.anything',
    '{{ http_api_call_1.list.column }}',
    'normalize_domain_1.no',
    'x_1.y',
    '{{input.z}}',
  ]
  const { entries, errors } = chooseOutputs(
    [],
    given.map((reference, at) => ({ name: `o${at}`, reference })),
    chain,
  )
  expect(entries.map(({ reference }) => reference)).toEqual([
    '{{http_api_call_1.anything}}',
    '{{http_api_call_1.list.column}}',
  ])
  expect(errors.map(({ field }) => field)).toEqual([2, 3, 4].map((at) => `outputs[${at}].reference`))
})
