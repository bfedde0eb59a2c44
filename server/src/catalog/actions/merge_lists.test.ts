import { describe, expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

const row = {
  input: { text: '[{"a":1},{"a":12345678901234567890}]', word: 'x', empty: null },
  outputs: {
    x_1: {
      list: [
        { id: 1, v: 'a' },
        { id: 2, v: 'b' },
      ],
      raw: [1, null, ['x']],
      none: [],
    },
  },
}

describe('merge_lists', () => {
  const run = (inputs: Record<string, unknown>) => runAction('merge_lists', inputs, { row })
  const more = '[{"id":2,"v":"B"},{"v":"no id"},{"id":"1","v":"A"},{"id":"","v":"none"}]'

  it.each([
    [
      'one after the other',
      { lists: ['{{x_1.list}}', '[{"id":1}]'] },
      [{ id: 1, v: 'a' }, { id: 2, v: 'b' }, { id: 1 }],
    ],
    ['a single token', { lists: '{{x_1.raw}}' }, [{ value: 1 }, { value: null }, { value: ['x'] }]],
    ['empty ones passed over', { lists: ['{{input.empty}}', '{{x_1.none}}', '[5]'] }, [{ value: 5 }]],
    ['a list that is sent as such', { lists: [[{ a: 1 }]] }, [{ a: 1 }]],
    [
      'the first of each key',
      { lists: ['{{x_1.list}}', more], key_column: 'id' },
      [{ id: 1, v: 'a' }, { id: 2, v: 'b' }, { v: 'no id' }, { id: '', v: 'none' }],
    ],
    [
      'the last of each key, in the place of the first',
      { lists: ['{{x_1.list}}', more], key_column: 'id', keep: 'last' },
      [{ id: '1', v: 'A' }, { id: 2, v: 'B' }, { v: 'no id' }, { id: '', v: 'none' }],
    ],
  ])('%s', async (_what, inputs, list) => {
    expect(await run(inputs)).toEqual({ kind: 'done', outputs: { count: list.length, list } })
  })

  it('fails for a value that is not a list', async () => {
    expect(await run({ lists: ['{{x_1.list}}', '{{input.word}}'] })).toEqual({
      kind: 'failed',
      message: 'x is not a list',
    })
  })

  it('without lists cannot be run', async () => {
    expect(await run({ lists: [] })).toMatchObject({ kind: 'unrunnable' })
  })
})
