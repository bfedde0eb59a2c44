import { expect, it } from 'vitest'
import { isUnavailable, openStore, type Store } from '#server/database/connection/db.ts'
import { isFromDatabase } from '#server/database/connection/faults.ts'
import { createLog } from '#server/lib/log.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'
import { endAfter, listenTo } from '#test/plumbing/heard-store.ts'
import type { Flight } from '../engine/flights/flight.ts'
import { faultCatalogue } from '../engine/testing/fault-catalogue.ts'
import { makeFlightSheet, makeFlightStore, must } from '../engine/testing/flight-store-fixture.ts'
import { createSheetSends, type SendRows } from './sheet-sends.ts'

const services = { catalogue: faultCatalogue }
const app = await makeApp({ services })

/** Makes cells of one run, in flight at the same time, and a sheet to send to. */
async function makeSenders(of: TestApp, count: number) {
  const sheet = await makeFlightSheet(of, ['free'], 0)
  await sheet.addRows(count)
  await sheet.run()
  const flightStore = makeFlightStore(of)
  const jobs = await sheet.jobs()
  const flights = await Promise.all(jobs.map(async (job) => must(await flightStore.claim(job))))
  const { makeSheet } = rowsOf(sheet.org)
  const target = await makeSheet(['name'])
  return {
    org: sheet.org,
    flights,
    target,
    targetId: target.slice(-36),
    makeSheet,
    added: (base = target) =>
      of.store.query<{ row_id: string; name: string }>({
        text: `select row_id, (select value from jsonb_each_text(data)) as name from rows where sheet_id = $1 order by seq`,
        values: [base.slice(-36)],
      }),
  }
}
const sendsOf = (store: Store) => createSheetSends(store, faultCatalogue)
const sendAll = (send: SendRows, flights: readonly Flight[], target: string) =>
  Promise.all(flights.map((flight, n) => send(flight, target, [{ name: `n${n}` }])))

const transactionsOf = async (orgId: string) => {
  const rows = await app.store.query<{ xmin: string; sent: number }>({
    text: 'select xmin::text, count(*)::int as sent from sent_rows where org_id = $1 group by 1',
    values: [orgId],
  })
  return new Map(rows.map(({ xmin, sent }) => [xmin, sent]))
}

it('P20: cells that send to one sheet at the same time share a transaction; rows are in the order of the senders', async () => {
  const { org, flights, targetId, added } = await makeSenders(app, 60)
  const store = listenTo(app.store)
  const send = sendsOf(store)
  const inTurn = flights.map((_, n) => (n * 37) % flights.length)
  const answers = await Promise.all(
    inTurn.map((n) => {
      const rows = Array.from({ length: 1 + (n % 3) }, (_, item) => ({ name: `n${n}.${item}` }))
      return send(must(flights[n]), targetId, rows)
    }),
  )
  const stored = await added()
  const nameOf = new Map(stored.map(({ row_id, name }) => [row_id, name]))
  for (const [place, n] of inTurn.entries()) {
    const answer = must(answers[place])
    const names = answer.ok ? answer.value.map((id) => nameOf.get(id)) : []
    expect(names).toEqual(Array.from({ length: 1 + (n % 3) }, (_, item) => `n${n}.${item}`))
  }
  // The first cell sends at once, all others together.
  expect([...(await transactionsOf(org.orgId)).values()].toSorted((a, b) => a - b)).toEqual([1, 119])
  expect(stored.slice(1).map(({ name }) => name)).toEqual(
    flights.flatMap((_, n) =>
      n === 0 ? [] : Array.from({ length: 1 + (n % 3) }, (__, item) => `n${n}.${item}`),
    ),
  )
  const before = store.texts.length
  expect(await sendAll(send, flights, targetId)).toHaveLength(60)
  expect(before).toBeLessThan(20)
  expect(store.texts.length - before).toBeLessThan(10)
})

it('refused, repeated and duplicate sends do not fail the others', async () => {
  const { flights, targetId, added } = await makeSenders(app, 8)
  const send = sendsOf(app.store)
  const [first, early, wrong, twice, ...others] = flights.map(must)
  const before = await send(must(early), targetId, [{ name: 'early' }])
  const [, again, refused, one, same, ...fine] = await Promise.all([
    send(must(first), targetId, [{ name: 'first' }]),
    send(must(early), targetId, [{ name: 'early, again' }, { name: 'and more' }]),
    send(must(wrong), targetId, [{ name: 'x' }, { nmae: 'y' }]),
    send(must(twice), targetId, [{ name: 'twice' }]),
    send(must(twice), targetId, [{ name: 'twice' }]),
    ...others.map((flight, n) => send(flight, targetId, [{ name: `other ${n}` }])),
  ])
  expect(again).toEqual(before)
  expect(refused).toEqual({ ok: false, message: expect.stringContaining('nmae: ') })
  expect(one).toMatchObject({ ok: true })
  expect(same).toEqual(one)
  expect(fine).toMatchObject(others.map(() => ({ ok: true, value: { length: 1 } })))
  expect((await added()).map(({ name }) => name)).toEqual([
    'early',
    'first',
    'twice',
    ...others.map((_, n) => `other ${n}`),
  ])
})

it('two organisations, and two sheets of one, never share a transaction', async () => {
  const [mine, theirs] = [await makeSenders(app, 20), await makeSenders(app, 20)]
  const other = await mine.makeSheet(['name'])
  const send = sendsOf(app.store)
  const [half, rest] = [mine.flights.slice(0, 10), mine.flights.slice(10)]
  await Promise.all([
    sendAll(send, half, mine.targetId),
    sendAll(send, rest, other.slice(-36)),
    sendAll(send, theirs.flights, theirs.targetId),
  ])
  const [ofMine, ofTheirs] = [await transactionsOf(mine.org.orgId), await transactionsOf(theirs.org.orgId)]
  expect([...ofMine.values()].toSorted((a, b) => a - b)).toEqual([1, 1, 9, 9])
  expect([...ofTheirs.values()].toSorted((a, b) => a - b)).toEqual([1, 19])
  expect([...ofMine.keys()].filter((xmin) => ofTheirs.has(xmin))).toEqual([])
  for (const [sheet, base] of [
    [mine, mine.target],
    [mine, other],
  ] as const)
    expect(await sheet.added(base)).toHaveLength(10)
  expect(await send(must(mine.flights[0]), theirs.targetId, [{ name: 'x' }])).toMatchObject({
    ok: false,
    message: expect.stringContaining(`there is no sheet ${theirs.targetId} that the owner`),
  })
})

it('if the row limit is reached within a batch, the rows that fit are added', async () => {
  const limited = await makeApp({ services, settings: { LOAM_ROWS_PER_ORG: '30' } })
  const { flights, targetId, added } = await makeSenders(limited, 20)
  const answers = await sendAll(sendsOf(limited.store), flights, targetId)
  expect(answers.filter(({ ok }) => ok)).toHaveLength(10)
  for (const answer of answers.filter(({ ok }) => !ok))
    expect(answer).toEqual({
      ok: false,
      message: expect.stringContaining(
        'has 30 rows, and its limit is 30 (LOAM_ROWS_PER_ORG): one more does not fit',
      ),
    })
  expect((await added()).map(({ name }) => name)).toEqual(Array.from({ length: 10 }, (_, n) => `n${n}`))
})

it('cells that two workers run at the same time send once', async () => {
  const { flights, targetId, added } = await makeSenders(app, 30)
  const [one, other] = await Promise.all(
    [sendsOf(app.store), sendsOf(app.store)].map((send) => sendAll(send, flights, targetId)),
  )
  expect(other).toEqual(one)
  expect(one).toMatchObject(flights.map(() => ({ ok: true })))
  expect(await added()).toHaveLength(30)
})

it('D36: sends that are killed between any two statements leave nothing, and send once when they are repeated', async () => {
  const { org, flights, targetId, added } = await makeSenders(app, 6)
  // The error of a connection that ends with its process: no cell is sent again alone.
  const killed = Object.assign(new Error('killed here'), { code: '57P01' })
  await sendsOf(app.store)(must(flights[0]), targetId, [{ name: 'n0' }])
  let kills = 0
  for (;;) {
    const send = sendsOf(endAfter(app.store, kills + 1, killed))
    const ends = await Promise.allSettled(
      flights.map((flight, n) => send(flight, targetId, [{ name: `n${n}` }])),
    )
    // The first cell sends at once and finds what it has sent; all others send together.
    const sent = (await added()).length
    expect([1, 6]).toContain(sent)
    const noted = [...(await transactionsOf(org.orgId)).values()]
    expect(noted.reduce((sum, count) => sum + count, 0)).toBe(sent)
    if (ends.every(({ status }) => status === 'fulfilled')) break
    kills += 1
    expect(sent).toBe(1)
  }
  expect(kills).toBeGreaterThan(5)
  expect((await added()).map(({ name }) => name).toSorted()).toEqual(flights.map((_, n) => `n${n}`))
})

it('access to a sheet is checked for each batch: a deleted sheet gets no more rows', async () => {
  const { org, flights, target, targetId } = await makeSenders(app, 10)
  const send = sendsOf(app.store)
  expect(await sendAll(send, flights.slice(0, 5), targetId)).toMatchObject(
    [1, 2, 3, 4, 5].map(() => ({ ok: true })),
  )
  const path = `/workflows/${targetId}`
  expect((await org.call('DELETE', path)).status).toBe(200)
  expect(target).toContain(path)
  for (const answer of await sendAll(send, flights.slice(5), targetId))
    expect(answer).toMatchObject({
      ok: false,
      message: expect.stringContaining(`there is no sheet ${targetId}`),
    })
})

it('an outage is told to every cell that waits for it', async () => {
  const { flights, targetId } = await makeSenders(app, 10)
  const store = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', log: createLog('silent') })
  atEnd(() => store.close())
  const send = sendsOf(store)
  for (const end of await Promise.allSettled(
    flights.map((flight) => send(flight, targetId, [{ name: 'x' }])),
  ))
    expect(end.status === 'rejected' && isUnavailable(end.reason) && isFromDatabase(end.reason)).toBe(true)
})
