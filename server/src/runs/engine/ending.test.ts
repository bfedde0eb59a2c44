import { expect, it } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { createEnding } from './ending.ts'
import { makeFlightApp, makeFlightSheet, must } from './testing/flight-store-fixture.ts'
import { makeEngine } from './testing/test-engine.ts'
import { walkRow } from './walk.ts'

const app = await makeFlightApp()

it('a pause ends with its time, or when the process begins to end', async () => {
  const controller = new AbortController()
  const ending = createEnding(controller.signal)
  await ending.pause(1)
  const pause = ending.pause(600_000)
  controller.abort()
  await pause
  await ending.pause(600_000)
})

it('a row that waits for an identical cell of another process is parked when its own process ends (D27)', async () => {
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const { origin } = await serveHttp((_request, response) => {
    asked.resolve()
    void release.promise.then(() => response.setHeader('content-type', 'application/json').end('{}'))
  })
  const sheet = await makeFlightSheet(app, [{ action_id: 'paid_call', inputs: { url: origin } }], 100_000)
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  await sheet.addRows(2)
  await sheet.run()
  const [first, second] = await sheet.jobs()
  const computing = walkRow(makeEngine(app), must(first))
  await asked.promise

  const ending = new AbortController()
  const waiting = walkRow(makeEngine(app, ending.signal), must(second))
  const ticketOf = async (row: string | undefined) =>
    (await sheet.flights()).find((flight) => flight.row_id === row)?.ticket
  await expect
    .poll(async () => (await sheet.flights()).find((flight) => flight.row_id === second?.r)?.attempt)
    .toBe(1)
  ending.abort()
  await waiting
  expect(await ticketOf(second?.r)).toBe(must(second).t + 1)

  release.resolve()
  await computing
  const parked = must((await sheet.jobs())[0])
  await walkRow(makeEngine(app), parked)
  expect((await sheet.cells()).map(({ status, credits }) => [status, credits > 0])).toEqual([
    ['complete', true],
    ['complete', false],
  ])
})
