import { expect, it } from 'vitest'
import { deleteRows } from '#server/sheets/store/rows.ts'
import type { Flight } from '../engine/flights/flight.ts'
import { countStatements } from '../engine/testing/counting-store.ts'
import {
  makeFlightApp,
  makeFlightSheet,
  makeFlightStore,
  must,
} from '../engine/testing/flight-store-fixture.ts'
import { createUniqueness, type JudgeUnique } from './uniqueness.ts'

const app = await makeFlightApp()

/** Returns the flights of a sheet with rows of these values, in the order of the rows. */
async function fly(values: readonly string[]): Promise<Flight[]> {
  const sheet = await makeFlightSheet(app, ['free'], 0)
  const rows = values.map((kill) => ({ kill }))
  await sheet.org.call('POST', `${sheet.base}/rows`, { rows })
  await sheet.run()
  const store = makeFlightStore(app)
  const flights: Flight[] = []
  for (const job of await sheet.jobs()) flights.push(must(await store.claim(job)))
  return flights
}

type Way = 'inputs' | 'outputs'
const asked = (way: Way, text: string, waitedEnough = false): Parameters<JudgeUnique>[1] => ({
  texts: [text],
  inputs: way === 'inputs' ? ['kill'] : null,
  ignoreCase: false,
  waitedEnough,
})

const ONCE = Array.from({ length: 30 }, (_, n) => `${n}.com`)
const VALUES = [...ONCE, ...ONCE.toReversed()]
const VERDICTS = [...ONCE.map(() => 'unique'), ...ONCE.map(() => 'duplicate')]

it.each<[Way, number]>([
  // Rows that are known, rows to be indexed (two statements within a transaction), and rows that are known then.
  ['inputs', 5],
  // All rows are named, the first unnamed row is looked for, and all are judged.
  ['outputs', 3],
])('P20: cells that are judged by %s at the same time share %i statements', async (way, statements) => {
  const flights = await fly(VALUES)
  const store = countStatements(app.store)
  const judge = createUniqueness(store)
  await judge(must(flights[0]), asked('inputs', ''))
  await app.store.query({
    text: 'delete from dedupe_progress where org_id = $1',
    values: [flights[0]?.facts.org_id],
  })
  await app.store.query({
    text: 'delete from dedupe_keys where org_id = $1',
    values: [flights[0]?.facts.org_id],
  })
  store.texts.length = 0
  const verdicts = await Promise.all(flights.map((flight, n) => judge(flight, asked(way, VALUES[n] ?? ''))))
  expect(verdicts).toEqual(VERDICTS)
  expect(store.texts).toHaveLength(statements)
})

it.each<Way>(['inputs', 'outputs'])(
  'cells of two organisations that are judged by %s share nothing',
  async (way) => {
    const [ours, theirs] = [await fly(ONCE), await fly(ONCE)]
    const judge = createUniqueness(app.store)
    const both = [...ours, ...theirs]
    const verdicts = await Promise.all(
      both.map((flight, n) => judge(flight, asked(way, ONCE[n % ONCE.length] ?? ''))),
    )
    expect(new Set(verdicts)).toEqual(new Set(['unique']))
  },
)

it('D72: in a batch, rows wait for earlier rows, and a row that has waited enough is judged', async () => {
  const flights = await fly(VALUES)
  const judgeFrom = (from: number, to: number, waited?: number) => {
    const judge = createUniqueness(app.store)
    return Promise.all(
      flights
        .slice(from, to)
        .map((flight, n) => judge(flight, asked('outputs', VALUES[from + n] ?? '', n === waited))),
    )
  }
  const first = await judgeFrom(30, 60, 4)
  expect(first.map((verdict, n) => verdict === (n === 4 ? 'unique' : 'unknown yet'))).not.toContain(false)
  expect(new Set(await judgeFrom(0, 30))).toEqual(new Set(['unique']))
  expect(new Set(await judgeFrom(30, 60))).toEqual(new Set(['duplicate']))
})

it.each<Way>(['inputs', 'outputs'])(
  'by %s, a row that is gone, one that asks twice, and a question that fails take no other with them',
  async (way) => {
    const flights = await fly(['a', 'b', 'a', 'b', 'a'])
    const judge = createUniqueness(app.store)
    const [a, b, laterA, laterB, gone] = flights.map((flight) => must(flight))
    const { facts, row } = must(gone)
    const db = app.store.org(facts.org_id)
    await db.transaction().execute((trx) => deleteRows(trx, facts, [row.id]))
    const broken = { ...must(a), row: { ...must(a).row, id: 'no id' } }
    const values = (text: string) => asked(way, text, true)
    const ends = await Promise.allSettled([
      judge(must(a), values('a')),
      judge(must(b), values('b')),
      judge(broken, values('b')),
      judge(must(laterA), values('other')),
      judge(must(laterA), values('a')),
      judge(must(laterB), values('b')),
      judge(must(gone), values('a')),
    ])
    const verdicts = ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason)))
    expect(verdicts[2]).toContain('invalid input syntax for type uuid')
    const other = way === 'inputs' ? 'duplicate' : 'unique'
    expect(verdicts.toSpliced(2, 1)).toEqual(['unique', 'unique', other, 'duplicate', 'duplicate', 'unique'])
  },
)
