import { expect, it } from 'vitest'
import { createTurns } from './owner-turns.ts'

const forever = new AbortController().signal

it('the owner with the fewest pages in flight is next, so that the backlog of one delays nobody', async () => {
  const turns = createTurns(2)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = async (owner: string, page: string) => {
    const end = await turns.take(owner, forever)
    if (end === null) throw new Error('it was to be waited for')
    begun.push(page)
    ends.set(page, end)
  }
  const asked = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((page) => ask(page.charAt(0), page))
  await Promise.all(asked.slice(0, 2))
  for (const page of ['a1', 'a2', 'b1', 'c1', 'a3']) {
    await expect.poll(() => ends.has(page)).toBe(true)
    ends.get(page)?.()
  }
  await Promise.all(asked)
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

it('a caller that stops waiting is skipped, and a turn that is ended twice frees one place', async () => {
  const turns = createTurns(1)
  const first = await turns.take('a', forever)
  const leaving = new AbortController()
  const left = turns.take('b', leaving.signal)
  const second = turns.take('c', forever)
  leaving.abort()
  expect(await left).toBeNull()
  first?.()
  first?.()
  const end = await second
  const third = turns.take('d', AbortSignal.abort())
  expect(await third).toBeNull()
  let isThrough = false
  const fourth = turns.take('e', forever).then((ended) => {
    isThrough = true
    return ended
  })
  await Promise.resolve()
  expect(isThrough).toBe(false)
  end?.()
  ;(await fourth)?.()
  expect(isThrough).toBe(true)
})
