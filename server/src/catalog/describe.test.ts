import { expect, it } from 'vitest'
import { parseLossless } from '../lib/json/lossless-json.ts'
import { defineAction } from './define.ts'
import { describeInputs, describeOutputs, discoverOutputs, learnsFromRuns } from './describe.ts'
import { field } from './fields/fields.ts'
import { done } from './outcome.ts'
import { output } from './outputs.ts'

const people = output.table('Who was found.', { name: 'string', age: 'number' })
const findPeople = defineAction({
  id: 'find_people',
  name: 'Find people',
  description: 'Finds people.',
  category: 'people',
  inputs: {
    domain: field.text({ required: true, label: 'Domain', help: 'Where they work.' }),
    limit: field.number({
      label: 'Limit',
      help: 'How many.',
      placeholder: '10',
      details: 'Default 10.',
      advanced: true,
    }),
  },
  outputs: { count: output.number('How many were found.'), people },
  run: () => done({ count: 0, people: [] }),
})
const call = defineAction({
  id: 'call',
  name: 'Call',
  description: 'Calls.',
  category: 'web',
  inputs: {},
  outputs: { status_code: output.number('The status.'), list: output.table('Items.') },
  dynamic: true,
  run: () => done({ status_code: 200, list: [] }),
})

it('an input is described by name, type, required, description and its texts for people (H1)', () => {
  expect(describeInputs(findPeople)).toEqual([
    {
      name: 'domain',
      type: 'string',
      required: true,
      description: 'Where they work.',
      label: 'Domain',
      help: 'Where they work.',
      placeholder: null,
      group: 'main',
      kind: 'text',
    },
    {
      name: 'limit',
      type: 'number',
      required: false,
      description: 'How many. Default 10.',
      label: 'Limit',
      help: 'How many.',
      placeholder: '10',
      group: 'advanced',
      kind: 'number',
    },
  ])
})

it('an output is described with its reference, a structured_array with three-segment references of its columns', () => {
  expect(describeOutputs(findPeople, { id: 'find_people_2', inputs: {} })).toEqual([
    {
      name: 'count',
      type: 'number',
      reference: '{{find_people_2.count}}',
      description: 'How many were found.',
    },
    {
      name: 'people',
      type: 'structured_array',
      reference: '{{find_people_2.people}}',
      description: 'Who was found.',
      columns: [
        { name: 'name', type: 'string', structured_array_reference: '{{find_people_2.people.name}}' },
        { name: 'age', type: 'number', structured_array_reference: '{{find_people_2.people.age}}' },
      ],
    },
  ])
})

it('a run reveals the further outputs of a dynamic action, and columns that were not declared', () => {
  const discovered = discoverOutputs({ status_code: 200, list: [{ id: 1 }], name: 'Ann' })
  expect(
    describeOutputs(call, { id: 'call_1', inputs: {} }).map(({ name, columns }) => [name, columns]),
  ).toEqual([
    ['status_code', undefined],
    ['list', []],
  ])
  expect(describeOutputs(call, { id: 'call_1', inputs: {} }, discovered)).toEqual([
    { name: 'status_code', type: 'number', reference: '{{call_1.status_code}}', description: 'The status.' },
    {
      name: 'list',
      type: 'structured_array',
      reference: '{{call_1.list}}',
      description: 'Items.',
      columns: [{ name: 'id', type: 'number', structured_array_reference: '{{call_1.list.id}}' }],
    },
    { name: 'name', type: 'string', reference: '{{call_1.name}}' },
  ])
})

it('a run reveals nothing about an action that declares all of its outputs', () => {
  expect(
    describeOutputs(findPeople, { id: 'find_people_1', inputs: {} }, discoverOutputs({ other: 1 })).map(
      ({ name }) => name,
    ),
  ).toEqual(['count', 'people'])
  expect([learnsFromRuns(findPeople), learnsFromRuns(call)]).toEqual([false, true])
})

it.each([
  ['text', 'string'],
  ['https://example.com/a?b=c', 'url'],
  ['HTTP://EXAMPLE.COM', 'url'],
  ['https://', 'string'],
  ['see https://example.com', 'string'],
  ['ann@example.com', 'email'],
  ['2026-01-31', 'date'],
  ['2026-01-31T09:30:00+01:00', 'date'],
  ['2026-02-30', 'string'],
  ['ann@localhost', 'string'],
  ['', 'string'],
  [42, 'number'],
  [parseLossless('12345678901234567890'), 'number'],
  [true, 'boolean'],
  [{ a: 1 }, 'json'],
  [[], 'raw_array'],
  [[1, 2], 'raw_array'],
  [[{ a: 1 }, 2], 'raw_array'],
])('the type of %j is %s', (value, type) => {
  expect(discoverOutputs({ value })).toEqual([{ name: 'value', type }])
})

it('null is shown as a string of a type that is not known yet', () => {
  expect(discoverOutputs({ value: null })).toEqual([{ name: 'value', type: 'string', anyType: true }])
})

it('columns are the union of the keys, each with the type that all of its values have', () => {
  const list = [
    { name: 'Ann', age: null, tags: ['a'], site: 'https://a.example', mixed: 1 },
    { name: 'Bob', age: 30, tags: [{ b: 1 }], site: 'none', mixed: { c: 1 }, extra: null },
  ]
  expect(discoverOutputs({ list })).toEqual([
    {
      name: 'list',
      type: 'structured_array',
      columns: [
        { name: 'name', type: 'string' },
        { name: 'age', type: 'number' },
        { name: 'tags', type: 'raw_array' },
        { name: 'site', type: 'string' },
        { name: 'mixed', type: 'json' },
        { name: 'extra', type: 'string' },
      ],
    },
  ])
})

it('only the first thousand items and names count', () => {
  const items = Array.from({ length: 1001 }, (_, n) => ({ [`k${n}`]: n }))
  const [list] = discoverOutputs({ list: items })
  expect(list?.columns).toHaveLength(1000)
  expect(discoverOutputs(Object.assign({}, ...items))).toHaveLength(1000)
})

it('names that no token can express are left out', () => {
  const outputs = { 'a.b': 1, 'c{': 2, ok: 3, list: [{ ' d ': 1, e: 2 }] }
  expect(discoverOutputs(outputs)).toEqual([
    { name: 'ok', type: 'number' },
    { name: 'list', type: 'structured_array', columns: [{ name: 'e', type: 'number' }] },
  ])
})
