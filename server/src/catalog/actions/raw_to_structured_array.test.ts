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

describe('raw_to_structured_array', () => {
  const run = (array: string) => runAction('raw_to_structured_array', { array }, { row })

  it.each([
    ['{{x_1.list}}', row.outputs.x_1.list],
    ['[{"a{":1},{"b":2}]', [{ a: 1 }, { b: 2 }]],
    ['{{x_1.raw}}', [{ value: 1 }, { value: null }, { value: ['x'] }]],
    ['{{x_1.none}}', []],
  ])('%s', async (array, list) => {
    expect(await run(array)).toEqual({ kind: 'done', outputs: { list } })
  })

  it('keeps the digits of long numbers in a text', async () => {
    expect(JSON.stringify(await run('{{input.text}}'))).toContain('[{"a":1},{"a":12345678901234567890}]')
  })

  it.each(['{{input.word}}', '{"a":1}', '[1'])('%s is not an array', async (array) => {
    expect(await run(array)).toEqual({
      kind: 'failed',
      message: 'array is not a JSON array, or is a text of more than 50,000 values',
    })
  })

  it('cannot run on a missing value', async () => {
    expect(await run('{{input.empty}}')).toEqual({ kind: 'unrunnable', message: 'required and empty: array' })
  })
})
