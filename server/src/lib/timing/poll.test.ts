import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createLog } from '../log.ts'
import { startPoll } from './poll.ts'

const lines: string[] = []
const log = createLog('warn', { write: (line: string) => void lines.push(line) })

it('a poll that fails is logged by name and asked again', async () => {
  let asked = 0
  const again = Promise.withResolvers<void>()
  const poll = startPoll({ name: 'the moon', ms: 1, log }, async () => {
    asked += 1
    if (asked === 1) throw new Error('clouds')
    if (asked === 3) again.resolve()
  })
  await again.promise
  await poll.stop()
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn', poll: 'the moon', cause: 'clouds' }),
  ])
})

it('stopping a poll aborts the call in flight, waits for it, and ends the pause at once', async () => {
  let ended = false
  const busy = startPoll({ name: 'busy', ms: 1, log }, async (signal) => {
    while (!signal.aborted) await sleep(1)
    await sleep(20)
    ended = true
  })
  await busy.stop()
  expect(ended).toBe(true)

  const resting = startPoll({ name: 'resting', ms: 3_600_000, log }, async () => {})
  await sleep(5)
  await resting.stop()
})
