import { describe, expect, it } from 'vitest'
import { readJson, readList, toRecords } from './json-text.ts'

describe('JSON in texts', () => {
  it('keeps the digits of long numbers', () => {
    const read = readJson('{"id": 12345678901234567890, "n": 1.5}')
    expect(JSON.stringify(read)).toBe('{"ok":true,"value":{"id":12345678901234567890,"n":1.5}}')
  })

  it.each(['', 'nothing', '{"a":}', '[1', '['.repeat(200_000), '1e5x'])('%.20s is none', (text) => {
    expect(readJson(text)).toEqual({ ok: false })
  })

  it.each([
    [100, true],
    [101, false],
    [100_000, false],
  ])('nested %i deep: %s', (depth, ok) => {
    expect(readJson('['.repeat(depth) + ']'.repeat(depth)).ok).toBe(ok)
    expect(readJson(`${'{"a":'.repeat(depth)}1e5${'}'.repeat(depth)}`).ok).toBe(ok)
  })
})

it('a list is an array or the JSON text of one', () => {
  expect(readList([1])).toEqual([1])
  expect(readList(' [1, {"a": 2}] ')).toEqual([1, { a: 2 }])
  for (const other of ['{"a": 1}', 'a, b', '', null, undefined, 5, { length: 1 }])
    expect(readList(other)).toBeNull()
})

it('items that are not objects become records with a value', () => {
  expect(toRecords([{ a: 1 }, 'x', null, [2]])).toEqual([
    { a: 1 },
    { value: 'x' },
    { value: null },
    { value: [2] },
  ])
})
