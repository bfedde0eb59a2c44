import { describe, expect, it } from 'vitest'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { lookupIn } from '../testing/run-action.ts'
import { readInputs, resolveInputs } from './inputs.ts'

const action = defineAction({
  id: 'test',
  name: 'Test',
  description: 'A test.',
  category: 'data',
  inputs: {
    name: field.text({ required: true, label: 'Name', help: 'A value.' }),
    list: field.value({ label: 'List', help: 'A value.' }),
    limit: field.number({ default: 7, max: 10, label: 'Limit', help: 'A value.' }),
    order: field.choice(['up', 'down'], { default: 'up', label: 'Order', help: 'A value.' }),
    flag: field.toggle({ label: 'Flag', help: 'A value.', default: true }),
    pairs: field.pairs({ label: 'Pairs', help: 'A value.' }),
    email: field.text({ label: 'Email', help: 'A value.' }),
    phone: field.text({ label: 'Phone', help: 'A value.' }),
  },
  needs: [['email'], ['phone', 'list']],
  outputs: {},
  run: () => done({}),
})

const row = { input: { name: 'Ann', n: '12', list: [1, { a: 2 }], empty: null } }
const resolve = (configured: Record<string, string | boolean | unknown[]>) =>
  resolveInputs(action, configured, lookupIn(row))

describe('inputs of an action on a row', () => {
  it('are text or, for a lone token, the value itself', () => {
    const configured = {
      name: 'Hi {{input.name}}',
      list: '{{input.list}}',
      pairs: [{ name: 'a', value: '{{input.list}}', label: '{{input.name}}', n: 5 }],
      email: '{{input.empty}}',
    }
    expect(resolve(configured)).toEqual({
      resolved: {
        name: 'Hi Ann',
        list: [1, { a: 2 }],
        pairs: [{ name: 'a', value: [1, { a: 2 }], label: 'Ann', n: 5 }],
        email: '',
      },
      missing: [],
    })
  })

  it('name the tokens that refer to nothing (D33)', () => {
    const { missing } = resolve({ name: '{{input.nobody}} {{other_1.x}}' })
    expect(missing).toEqual([
      { kind: 'input', name: 'nobody' },
      { kind: 'output', action: 'other_1', name: 'x' },
    ])
  })

  it('count as never set once they are cleared', () => {
    expect(resolve({ name: '', pairs: [], flag: false }).resolved).toEqual({ flag: false })
  })

  it('have their defaults if they are not set', () => {
    expect(readInputs(action, { name: 'Ann', email: 'a@b.c' })).toEqual({
      ok: true,
      inputs: {
        name: 'Ann',
        list: undefined,
        limit: 7,
        order: 'up',
        flag: true,
        pairs: [],
        email: 'a@b.c',
        phone: undefined,
      },
    })
  })

  it.each([
    [{ email: 'a@b.c' }, 'required and empty: name'],
    [{ name: '', email: 'a@b.c' }, 'required and empty: name'],
    [{ name: 'Ann' }, 'one of these must be set: email; phone and list'],
    [{ name: 'Ann', phone: '1' }, 'one of these must be set: email; phone and list'],
    [{ name: 'Ann', email: 'x', limit: 'many' }, 'limit: must be a number, as text; it was "many"'],
    [{ name: 'Ann', email: 'x', limit: '11' }, 'limit: must be at most 10; it was "11"'],
    [{ name: 'Ann', email: 'x', order: 'left' }, 'order: must be one of: up, down; it was "left"'],
  ])('%j cannot be run with', (resolved, message) => {
    expect(readInputs(action, resolved)).toEqual({ ok: false, message })
  })

  it('an empty list is a value', () => {
    expect(readInputs(action, { name: 'Ann', phone: '1', list: [] })).toMatchObject({ ok: true })
  })
})
