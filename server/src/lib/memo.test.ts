import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createMemo, type MemoLimits } from './memo.ts'

/** Creates a memo of texts, and records the keys that were read for it. */
function makeMemo(limits: MemoLimits<string>, keeps?: (value: string) => boolean) {
  const remember = createMemo(limits, keeps)
  const reads: string[] = []
  const ask = (key: string, value = key) =>
    remember(key, async () => {
      reads.push(key)
      return value
    })
  return { ask, reads, remember }
}

it('reads a value once, also for concurrent callers', async () => {
  const { ask, reads } = makeMemo({ max: 10 })
  expect(await Promise.all([ask('a'), ask('a'), ask('b'), ask('a')])).toEqual(['a', 'a', 'b', 'a'])
  expect(await ask('a')).toBe('a')
  expect(reads).toEqual(['a', 'b'])
})

it('forgets only the least recently used value', async () => {
  const { ask, reads } = makeMemo({ max: 2 })
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(key)
  expect(reads).toEqual(['a', 'b', 'c', 'b'])
})

it('keeps no more bytes than allowed, and no value that alone is too large', async () => {
  const { ask, reads } = makeMemo({ max: 100, bytes: { max: 1000, of: (text) => text.length } })
  for (const key of ['a', 'b', 'c']) await ask(key, 'x'.repeat(400))
  for (const key of ['c', 'b', 'a']) await ask(key, 'x'.repeat(400))
  expect(reads).toEqual(['a', 'b', 'c', 'a'])
  for (const _ of [1, 2]) await ask('large', 'x'.repeat(1001))
  expect(reads.slice(4)).toEqual(['large', 'large'])
})

it('reads again after the time to live', async () => {
  const { ask, reads } = makeMemo({ max: 10, ttlMs: 20 })
  await ask('a')
  await sleep(30)
  await ask('a')
  expect(reads).toEqual(['a', 'a'])
})

it('keeps neither a failure nor a value that `keeps` refuses', async () => {
  const { ask, reads, remember } = makeMemo({ max: 10 }, (value) => value !== 'unknown')
  await expect(remember('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
  const throwAtOnce = () => {
    throw new Error('gone at once')
  }
  await expect(remember('a', throwAtOnce)).rejects.toThrow('gone at once')
  expect([await ask('a', 'unknown'), await ask('a'), await ask('a')]).toEqual(['unknown', 'a', 'a'])
  expect(reads).toEqual(['a', 'a'])
})
