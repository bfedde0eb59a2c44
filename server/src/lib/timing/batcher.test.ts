import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBatcher, type Gathering } from './batcher.ts'

type Call = { items: number[]; answer: (results?: number[]) => void; fail: (cause: Error) => void }

/**
 * Creates a batcher whose calls the test answers by hand. By default each item is answered with a hundred
 * times its value.
 */
function watched(options: {
  maxItems: number
  maxInFlight: number
  sizeOf?: (item: number) => number
  gather?: Gathering
  byTurns?: boolean
}) {
  const calls: Call[] = []
  let inFlight = 0
  let peak = 0
  const submit = createBatcher<number, number>({
    ...options,
    run: (items) => {
      peak = Math.max(peak, ++inFlight)
      const { promise, resolve, reject } = Promise.withResolvers<number[]>()
      calls.push({
        items,
        answer: (results = items.map((item) => item * 100)) => resolve(results),
        fail: reject,
      })
      return promise.finally(() => (inFlight -= 1))
    },
  })
  return { submit, calls, peak: () => peak, batches: () => calls.map((call) => call.items) }
}

it('an item goes out at once while nothing is in flight', async () => {
  const { submit, calls, batches } = watched({ maxItems: 10, maxInFlight: 1 })
  const first = submit(1)
  expect(batches()).toEqual([[1]])
  calls[0]?.answer()
  expect(await first).toBe(100)
  const second = submit(2)
  expect(batches()).toEqual([[1], [2]])
  calls[1]?.answer()
  expect(await second).toBe(200)
})

it('items that arrive while every slot is taken share the next batch, in their order', async () => {
  const { submit, calls, batches } = watched({ maxItems: 4, maxInFlight: 2 })
  const results = [1, 2, 3, 4, 5, 6, 7, 8].map(submit)
  expect(batches()).toEqual([[1], [2]])
  calls[1]?.answer()
  await nextTurn()
  expect(batches()).toEqual([[1], [2], [3, 4, 5, 6]])
  calls[0]?.answer()
  await nextTurn()
  expect(batches()).toEqual([[1], [2], [3, 4, 5, 6], [7, 8]])
  calls[3]?.answer()
  calls[2]?.answer()
  expect(await Promise.all(results)).toEqual([100, 200, 300, 400, 500, 600, 700, 800])
})

it('items have sizes, and an item larger than a batch is sent alone', async () => {
  const { submit, calls, batches } = watched({ maxItems: 5, maxInFlight: 1, sizeOf: (item) => item })
  const results = [1, 2, 3, 1, 9, 2].map(submit)
  for (let n = 0; n < 4; n += 1) {
    calls[n]?.answer()
    await nextTurn()
  }
  expect(batches()).toEqual([[1], [2, 3], [1], [9], [2]])
  calls[4]?.answer()
  await Promise.all(results)
})

it('a few items wait for more to share their batch, but not for long', async () => {
  const { submit, calls, batches } = watched({
    maxItems: 10,
    maxInFlight: 1,
    gather: { enough: 3, ms: 20 },
  })
  const first = [1, 2].map(submit)
  await nextTurn()
  expect(batches()).toEqual([])
  const third = submit(3)
  expect(batches()).toEqual([[1, 2, 3]])
  calls[0]?.answer()
  await Promise.all([...first, third])
  const alone = submit(4)
  await expect.poll(() => batches()).toEqual([[1, 2, 3], [4]])
  calls[1]?.answer()
  expect(await alone).toBe(400)
})

it('items of one turn of the event loop share a batch if `byTurns` is set', async () => {
  const { submit, calls, batches } = watched({ maxItems: 10, maxInFlight: 1, byTurns: true })
  const together = [1, 2].map(submit)
  await Promise.resolve()
  together.push(submit(3))
  expect(batches()).toEqual([])
  await nextTurn()
  expect(batches()).toEqual([[1, 2, 3]])
  calls[0]?.answer()
  expect(await Promise.all(together)).toEqual([100, 200, 300])
})

it('items of a flood wait longer while more arrive, until there are enough', async () => {
  const gather = { enough: 60, ms: 1, flood: { many: 6, ms: 60_000 } }
  const { submit, calls, batches } = watched({
    maxItems: 100,
    maxInFlight: 1,
    sizeOf: (item) => item,
    gather,
  })
  const flood = [10, 20, 30].map(submit)
  calls[0]?.answer()
  const next: Promise<number>[] = []
  for (let n = 0; n < 20; n += 1) {
    next.push(submit(1))
    await sleep(1)
  }
  expect(batches()).toHaveLength(1)
  next.push(submit(41))
  expect(batches()[1]).toHaveLength(21)
  calls[1]?.answer()
  await Promise.all([...flood, ...next])
})

it('a batch does not wait when no more items arrive', async () => {
  const gather = { enough: 6, ms: 60_000 }
  const { submit, calls, batches } = watched({ maxItems: 10, maxInFlight: 1, gather })
  const few = [1, 2].map(submit)
  expect(batches()).toEqual([])
  await sleep(50)
  expect(batches()).toEqual([[1, 2]])
  calls[0]?.answer()
  expect(await Promise.all(few)).toEqual([100, 200])
})

it('a failure rejects exactly the items of its batch, and work goes on', async () => {
  const { submit, calls } = watched({ maxItems: 2, maxInFlight: 1 })
  const results = Promise.allSettled([1, 2, 3, 4].map(submit))
  const failure = new Error('no')
  calls[0]?.answer()
  await nextTurn()
  calls[1]?.fail(failure)
  await nextTurn()
  calls[2]?.answer()
  expect(await results).toEqual([
    { status: 'fulfilled', value: 100 },
    { status: 'rejected', reason: failure },
    { status: 'rejected', reason: failure },
    { status: 'fulfilled', value: 400 },
  ])
})

it('a call that throws instead of answering rejects its items and frees its slot', async () => {
  let calls = 0
  const submit = createBatcher<number, number>({
    maxItems: 1,
    maxInFlight: 1,
    run: (items) => {
      if (++calls === 1) throw new Error('thrown')
      return Promise.resolve(items)
    },
  })
  await expect(submit(1)).rejects.toThrow('thrown')
  expect(await submit(2)).toBe(2)
})

it('too few results reject the items without one', async () => {
  const { submit, calls } = watched({ maxItems: 3, maxInFlight: 1 })
  const first = submit(0)
  const results = Promise.allSettled([submit(1), submit(2)])
  calls[0]?.answer()
  await first
  await nextTurn()
  calls[1]?.answer([100])
  expect(await results).toEqual([
    { status: 'fulfilled', value: 100 },
    { status: 'rejected', reason: expect.objectContaining({ message: expect.stringContaining('too few') }) },
  ])
})

/**
 * Compares the batcher with the plain rules that it must keep, for any order of submissions, results and
 * failures.
 */
it('every item is answered once, with its own result, in batches within the limits', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('submit' as const) },
    { weight: 1, arbitrary: fc.record({ end: fc.constantFrom('answer', 'fail'), which: fc.nat() }) },
  )
  const limits = fc.record({
    maxItems: fc.integer({ min: 1, max: 5 }),
    maxInFlight: fc.integer({ min: 1, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async (options, steps) => {
      const { submit, calls, batches, peak } = watched(options)
      const results: Promise<number>[] = []
      const open: Call[] = []
      const failed = new Set<number>()
      let seen = 0
      const notice = () => {
        open.push(...calls.slice(seen))
        seen = calls.length
      }
      const end = async (call: Call | undefined, how: string) => {
        if (call === undefined) return
        open.splice(open.indexOf(call), 1)
        if (how === 'answer') call.answer()
        else call.fail(new Error(`batch ${calls.indexOf(call)}`))
        if (how === 'fail') for (const item of call.items) failed.add(item)
        await nextTurn()
        notice()
      }
      for (const next of steps) {
        if (next === 'submit') {
          const result = submit(results.length)
          result.catch(() => undefined)
          results.push(result)
          notice()
          // No item waits while a slot is free.
          expect(open.length === options.maxInFlight || batches().flat().length === results.length).toBe(true)
        } else await end(open[next.which % Math.max(1, open.length)], next.end)
      }
      while (open.length > 0) await end(open[0], 'answer')

      const expected = results.map((_, item) =>
        failed.has(item) ? `batch ${batches().findIndex((batch) => batch.includes(item))}` : item * 100,
      )
      const got = await Promise.all(results.map((result) => result.catch((cause: Error) => cause.message)))
      expect(got).toEqual(expected)
      expect(batches().flat()).toEqual(results.map((_, item) => item))
      expect(batches().every((batch) => batch.length >= 1 && batch.length <= options.maxItems)).toBe(true)
      expect(peak()).toBeLessThanOrEqual(options.maxInFlight)
    }),
    { numRuns: 300 },
  )
})

it('one failed item does not fail the others of its batch', async () => {
  const runs: string[][] = []
  const submit = createBatcher<string, string>({
    maxItems: 10,
    maxInFlight: 1,
    isolates: (cause) => cause instanceof RangeError,
    run: async (items) => {
      runs.push(items)
      await nextTurn()
      if (items.includes('bad')) throw new RangeError('no')
      if (items.includes('outage')) throw new Error('gone')
      return items.map((item) => item.toUpperCase())
    },
  })
  const first = submit('first')
  const answers = await Promise.allSettled(['a', 'bad', 'b'].map((item) => submit(item)))
  expect(await first).toBe('FIRST')
  expect(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason))),
  ).toEqual(['A', 'RangeError: no', 'B'])
  expect(runs).toEqual([['first'], ['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
  const second = submit('second')
  const lost = await Promise.allSettled(['a', 'outage'].map((item) => submit(item)))
  expect(await second).toBe('SECOND')
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
