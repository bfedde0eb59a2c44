import { expect, it } from 'vitest'
import {
  complete,
  makeFlightApp,
  makeFlightSheet,
  makeFlightStore,
  must,
} from '../testing/flight-store-fixture.ts'

const app = await makeFlightApp()
const store = makeFlightStore(app)

it('D84: a worker that takes over after a skipped cell goes on there, and does not read its former result', async () => {
  const sheet = await makeFlightSheet(app, ['free', 'free'], 0)
  await sheet.addRows(1)
  const claim = async () => must(await store.claim(must((await sheet.jobs())[0])))
  const { runId: first } = await sheet.run()
  const before = await claim()
  const both = [
    ...complete(before, 'free_2').cells,
    { ...must(complete(before, null).cells[0]), action: 'free_2' },
  ]
  await store.settle(before, { cells: both, next: null })

  const { runId: second } = await sheet.run()
  const dead = await claim()
  await store.settle(dead, complete(dead, 'free_2', 0, { status: 'condition_not_met', outputs: undefined }))
  const flight = await claim()
  expect(flight.position.action).toBe('free_2')
  expect(JSON.parse(must(flight.row.cells))).toEqual({ free_1: ['condition_not_met', null] })
  expect(await sheet.cells()).toMatchObject([{ action: 'free_1', status: 'complete', run_id: second }])
  await sheet.stop()
  expect(await store.abandon(flight)).toBe(true)
  expect(await sheet.cells()).toMatchObject([
    { action: 'free_1', status: 'complete', run_id: second },
    { action: 'free_2', status: 'complete', run_id: first },
  ])
})
