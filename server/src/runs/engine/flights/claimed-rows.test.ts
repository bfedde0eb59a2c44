import { describe, expect, it } from 'vitest'
import {
  complete,
  type FlightSheet,
  makeFlightStore,
  makeFlightSheet,
  makeFlightApp,
  must,
} from '../testing/flight-store-fixture.ts'
import { START } from '../testing/paid-sheets.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { walkRow } from '../walk.ts'
import type { Flight, RowJob } from './flight.ts'
import { createLargeRows } from './large-rows.ts'

const app = await makeFlightApp()
const old = makeFlightStore(app, 1)
const engine = makeEngine(app)

describe('F2: inputs of large rows', () => {
  const makeLargeSheet = async (rows: number, kill = 'x'.repeat(300_000)) => {
    const sheet = await makeFlightSheet(app, ['free'], START)
    await sheet.addRows(rows, { kill })
    await sheet.run()
    return sheet
  }
  const claimAll = async (sheet: FlightSheet) =>
    Promise.all((await sheet.jobs()).map(async (job) => must(await old.claim(job))))

  it('are not read by claims and peeks, compressed or not, and the rows are walked all the same', async () => {
    const noise = Array.from({ length: 3000 }, () => Math.random().toString(36)).join('')
    for (const kill of [undefined, noise]) {
      const sheet = await makeLargeSheet(2, kill)
      const [first, second] = await sheet.jobs()
      expect(must((await old.peekAll([must(first)]))[0]).row).toMatchObject({ data: null })
      expect(must(await old.claim(must(first))).row.unreadBytes).toBeGreaterThan(1000)
      await Promise.all([walkRow(engine, must(first)), walkRow(engine, must(second), { fresh: true })])
      expect((await sheet.cells()).map((cell) => cell.status)).toEqual(['complete', 'complete'])
    }
  })

  it('wait for room, except the first of an organisation, and are not read while the process ends', async () => {
    const [mine, theirs] = [await makeLargeSheet(3), await makeLargeSheet(1)]
    let isEnding = false
    const withInputs = createLargeRows(app.store, () => isEnding, 100_000)
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const walk = (flight: Flight, name: string) =>
      withInputs(flight, async ({ row }) => {
        begun.push(`${name} ${row.data === null ? 'unread' : 'read'}`)
        await new Promise<void>((resolve) => ends.set(name, resolve))
      })
    const [one, two, three] = await claimAll(mine)
    const walks = [walk(must(one), 'one'), walk(must(two), 'two'), walk(must(three), 'three')]
    await expect.poll(() => begun.length).toBe(1)
    for (const flight of await claimAll(theirs)) walks.push(walk(flight, 'theirs'))
    await expect.poll(() => begun).toEqual(['one read', 'theirs read'])
    ends.get('theirs')?.()
    ends.get('one')?.()
    await expect.poll(() => begun.slice(2)).toEqual(['two read'])
    isEnding = true
    ends.get('two')?.()
    await expect.poll(() => begun.slice(3)).toEqual(['three unread'])
    ends.get('three')?.()
    await Promise.all(walks)
  })
})

describe('results of a row from earlier runs', () => {
  /** Starts a run of the second action, after the first one has its result. */
  async function runOn(): Promise<RowJob & { run: string }> {
    const sheet = await makeFlightSheet(app, ['free', 'free'], START)
    await sheet.addRows(1)
    await sheet.run({ kind: 'all' }, ['free_1'])
    const flight = must(await old.claim(must((await sheet.jobs())[0]), { fresh: true }))
    await old.settle(flight, complete(flight, null, 0))
    const { runId } = await sheet.run({ kind: 'all' }, ['free_2'])
    return { ...must((await sheet.jobs())[0]), run: runId }
  }

  it('are read, unless the run reads none of them and the row is fresh', async () => {
    const job = await runOn()
    const store = makeFlightStore(app, 3)
    const { facts, row } = must((await store.peekAll([job]))[0])
    expect(row.cells).toContain('free_1')
    store.leaveEarlierResults(facts)
    expect(must((await store.peekAll([job]))[0]).row.cells).toBeNull()
    expect(must(await store.claim(job, { fresh: true })).row.cells).toBeNull()
    // The row may have results of this run by now.
    expect(must(await store.claim(job, { fresh: true })).row.cells).toContain('free_1')
    expect(must(await store.claim(job)).row.cells).toContain('free_1')
  })

  it('are read if another run than that of the job has the row', async () => {
    const job = await runOn()
    const other = await runOn()
    const store = makeFlightStore(app, 3)
    store.leaveEarlierResults(must((await store.peekAll([other]))[0]).facts)
    const misled = { ...job, run: other.run }
    expect(must((await store.peekAll([misled]))[0]).row.cells).toContain('free_1')
    expect(must(await store.claim(misled, { fresh: true })).row.cells).toContain('free_1')
  })
})
