import { expect, it } from 'vitest'
import { createSlots } from './slots.ts'

/**
 * Returns a function that takes slots for an owner, and the names of the owners in the order in which slots
 * were granted.
 */
function open(size: number) {
  const slots = createSlots(size)
  const granted: string[] = []
  return {
    granted,
    giveBack: (owner: string) => slots.giveBack(owner),
    take: (owner: string, name: string) => {
      const wait = slots.take(owner)
      if (wait === undefined) granted.push(name)
      else void wait.then(() => granted.push(name))
    },
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

it('R16: an organisation that holds no slot gets one at once, however many another holds', async () => {
  const { take, granted } = open(2)
  for (const name of ['a1', 'a2', 'a3', 'a4']) take('a', name)
  for (const name of ['b1', 'b2']) take('b', name)
  expect(granted).toEqual(['a1', 'a2', 'b1'])
})

it('R16: freed slots go round among organisations once they are within the size again', async () => {
  const { take, granted, giveBack, settle } = open(2)
  for (const name of ['a1', 'a2', 'a3', 'a4']) take('a', name)
  for (const name of ['b1', 'b2', 'b3']) take('b', name)
  giveBack('a')
  await settle()
  expect(granted).toEqual(['a1', 'a2', 'b1'])
  giveBack('a')
  await settle()
  expect(granted).toEqual(['a1', 'a2', 'b1', 'a3'])
  giveBack('a')
  await settle()
  expect(granted).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

it('an organisation that waits and holds nothing any more goes on', async () => {
  const { take, granted, giveBack, settle } = open(1)
  take('a', 'a1')
  take('b', 'b1')
  take('b', 'b2')
  giveBack('b')
  await settle()
  expect(granted).toEqual(['a1', 'b1', 'b2'])
})

it('after any takes and releases, as many slots are free as before', async () => {
  const { take, granted, giveBack, settle } = open(3)
  for (let n = 0; n < 50; n += 1) take(`org ${n % 7}`, `org ${n % 7}`)
  for (let n = 0; n < 50; n += 1) {
    giveBack(granted[n] ?? 'none')
    await settle()
  }
  expect(granted).toHaveLength(50)
  for (const name of ['1', '2', '3', '4']) take('a', name)
  expect(granted.slice(50)).toEqual(['1', '2', '3'])
})
