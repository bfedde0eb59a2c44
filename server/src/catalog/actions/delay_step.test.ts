import { expect, it } from 'vitest'
import type { Outcome } from '../outcome.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

it('delay_step waits once, then is done', async () => {
  const first: Outcome<unknown> = await runAction('delay_step', { time: '90' })
  expect(first).toMatchObject({ kind: 'wait', ms: 90_000 })
  const state = first.kind === 'wait' ? first.state : undefined
  expect(await runAction('delay_step', { time: '90' }, { state })).toEqual({ kind: 'done', outputs: {} })
})

it('delay_step of no time does not wait', async () => {
  expect(await runAction('delay_step', { time: '0' })).toEqual({ kind: 'done', outputs: {} })
})

it('delay_step takes its time from the row', async () => {
  const time = '{{input.seconds}}'
  const row = (seconds: string) => ({ row: { input: { seconds } } })
  expect(await runAction('delay_step', { time }, row('5'))).toMatchObject({ ms: 5000 })
  expect(await runAction('delay_step', { time }, row('soon'))).toMatchObject({ kind: 'unrunnable' })
})

it.each(['-1', '1.5', '2592001', 'x'])('delay_step refuses %s', async (time) => {
  await expect(runAction('delay_step', { time })).rejects.toThrow('time must be')
})
