import { describe, expect, it } from 'vitest'
import { atOnce } from '../../lib/timing/turns.ts'
import { findJsonText, isJson, MAX_READ_VALUES, readJson, readList, toRecordsInSteps } from './json-text.ts'

describe('JSON inside texts', () => {
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

it.each([
  ['empty objects', '{},'],
  ['exponents', '1e1,'],
  ['keys', '{"a":1,"b":[1.5e3]},'],
])('I6: a text of 1 MiB of %s is read, or not, within 200 ms', (_, part) => {
  const most = `[${part.repeat(MAX_READ_VALUES / 8)}1e1]`
  const text = `[${part.repeat((1024 * 1024) / part.length)}1e1]`
  const before = process.threadCpuUsage()
  expect(readJson(text)).toEqual({ ok: false })
  expect(isJson(text)).toBe(true)
  expect(readJson(most).ok).toBe(true)
  expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(200)
})

describe('D97: the JSON in what a model said', () => {
  it.each([
    ['{"a":1}', '{"a":1}'],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['```{"a":1}```', '{"a":1}'],
    ['Sure!\n```\n[1,2,]\n```\nAnything else?', '[1,2]'],
    ['{"a":[1, 2 , ] ,\n}', '{"a":[1,2]}'],
    ['{"a":",]","b":"x,}",}', '{"a":",]","b":"x,}"}'],
    ['The answer is {"a":1,} as you see.', '{"a":1}'],
  ])('%s', (said, json) => {
    expect(JSON.parse(findJsonText(said))).toEqual(JSON.parse(json))
  })

  it('endless commas are read once', () => {
    const began = performance.now()
    findJsonText(`[${', '.repeat(500_000)}]`)
    expect(performance.now() - began).toBeLessThan(2000)
  })
})

it('a list is an array or the JSON text of one', () => {
  expect(readList([1])).toEqual([1])
  expect(readList(' [1, {"a": 2}] ')).toEqual([1, { a: 2 }])
  for (const other of ['{"a": 1}', 'a, b', '', null, undefined, 5, { length: 1 }])
    expect(readList(other)).toBeNull()
})

it('items that are not objects become records with a value', () => {
  expect(atOnce(toRecordsInSteps([{ a: 1 }, 'x', null, [2]]))).toEqual([
    { a: 1 },
    { value: 'x' },
    { value: null },
    { value: [2] },
  ])
})
