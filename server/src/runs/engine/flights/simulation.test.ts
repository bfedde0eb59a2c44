import * as fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { isOn, readFastParts, switchOff } from '#server/lib/fast-parts.ts'
import type { Reservation } from '../leases/lease.ts'
import type { Reservations } from '../leases/reservations.ts'
import { expectAgreement, expectStatuses } from '../testing/engine-agreement.ts'
import {
  createModel,
  end,
  flightOf,
  type Hand,
  enqueue,
  type Model,
  remove,
  settle,
  stop,
} from '../testing/engine-model.ts'
import { PRICE } from '../testing/fault-catalogue.ts'
import {
  complete,
  type FlightSheet,
  makeFlightStore,
  type TestFlightStore,
  makeFlightSheet,
  makeFlightApp,
  makeReservations,
  must,
  withPosition,
} from '../testing/flight-store-fixture.ts'
import type { RowJob } from './flight.ts'
import { noteHeld, detachReservation } from './position.ts'

const app = await makeFlightApp()
const CHAIN = ['paid_1', 'free_1', 'free_2', 'paid_2']

type World = {
  /** Two processes, each with a memory of what it has reserved. */
  keepers: ReadonlyMap<TestFlightStore, Reservations>
  sheet: FlightSheet
  model: Model
  /** Every job ever queued. graphile-worker may hand out any of them again. */
  jobs: RowJob[]
  hands: Hand[]
  /** The hands of workers that have looked at a row without claiming it. */
  peeked: Hand[]
  /** The hands of workers before they settled, parked or were overtaken. */
  former: Hand[]
  revision: number
  reservations: [TestFlightStore, Reservation][]
}

type Pick = { a: number; b: number; c: number }
const some = <Item>(items: readonly Item[], n: number): Item | undefined => items[n % items.length]
const storeOf = ({ keepers }: World, { b }: Pick): TestFlightStore => must(some([...keepers.keys()], b))
const chosen = (world: World, { a }: Pick) => [...world.model.rows].filter((_, n) => (a >> n) & 1)

async function run(world: World, rows: string[], actions: string[]): Promise<void> {
  const { runId, rowsQueued } = await world.sheet.run({ kind: 'ids', ids: rows }, actions)
  const enqueued = enqueue(world.model, { id: runId, actions, revision: world.revision }, rows)
  expect(rowsQueued).toBe(rows.length)
  for (const job of await world.sheet.jobs()) {
    if (!enqueued.includes(job.r)) continue
    must(world.model.flights.get(job.r)).ticket = job.t
    world.jobs.push(job)
  }
}

async function claim(world: World, job: RowJob, store: TestFlightStore): Promise<void> {
  const flight = await store.claim(job)
  const known = world.model.flights.get(job.r)
  if (known?.ticket !== job.t) {
    expect(flight).toBeNull()
    return
  }
  Object.assign(known, { attempt: known.attempt + 1, status: 'running', token: Symbol('claimed') })
  const { actions, revision, stopped } = must(world.model.runs.get(known.run))
  expect(flight).toMatchObject({
    facts: { run_id: known.run, actions, revision },
    fence: { run: known.run, attempt: known.attempt },
    position: { action: known.action, heldMillis: 0, reservation: null },
    runState: stopped ? 'stopped' : 'running',
  })
  world.hands.push({ flight: must(flight), token: known.token })
}

/** Looks at a row without claiming it. The row must be as it was queued. */
async function peek(world: World, job: RowJob, store: TestFlightStore): Promise<void> {
  const [flight = null] = await store.peekAll([job])
  const known = world.model.flights.get(job.r)
  if (known?.ticket !== job.t || known.attempt > 0) {
    expect(flight).toBeNull()
    return
  }
  expect(flight).toMatchObject({ facts: { run_id: known.run }, position: { action: known.action } })
  world.peeked.push({ flight: must(flight), token: known.token })
}

/** Settles free cells of rows that were only looked at, all rows in one statement. Rows claimed meanwhile stay as they are. */
async function finishPeeked(world: World, store: TestFlightStore): Promise<void> {
  const rows = new Map(world.peeked.map((hand) => [hand.flight.row.id, hand]))
  world.peeked = []
  const free = [...rows.values()].filter(({ flight }) =>
    flight.facts.actions.every((action) => action.startsWith('free')),
  )
  const answers = await store.settleAll(
    free.map(({ flight }) => ({
      flight,
      settlement: {
        cells: flight.facts.actions.flatMap(
          (action) => complete(withPosition(flight, { action }), null).cells,
        ),
        next: null,
      },
    })),
  )
  expect(answers.map((answer) => answer === null)).toEqual(
    free.map((hand) => flightOf(world.model, hand) === undefined),
  )
  for (const hand of free) {
    const { actions } = hand.flight.facts
    let onward: Hand | null = hand
    for (const [n] of actions.entries()) {
      const result = { status: 'complete', credits: 0, next: actions[n + 1] ?? null }
      if (onward !== null) onward = settle(world.model, onward, result)
    }
  }
}

/**
 * Reserves the price of the current cell. It is refused for good only if the balance is too low, whatever others hold.
 */
async function reserve(world: World, hand: Hand, store: TestFlightStore): Promise<void> {
  const { facts, position } = hand.flight
  if (!position.action.startsWith('paid') || position.heldMillis > 0) return
  const answer = await must(world.keepers.get(store)).reserve(facts, null, { more: PRICE, total: PRICE })
  if ('reservation' in answer) {
    expect(world.model.credits).toBeGreaterThanOrEqual(PRICE)
    noteHeld(hand.flight, answer.reservation, PRICE)
    world.reservations.push([store, answer.reservation])
  } else expect(answer.refusal.isFinal).toBe(world.model.credits < PRICE)
}

/** Ends the reservation of a hand: it is charged, or free again. */
function endReservation(world: World, { flight }: Hand, cost: number): void {
  const reservation = detachReservation(flight)
  const mine = world.reservations.find(([, other]) => other === reservation)
  if (reservation === null || mine === undefined) return
  world.reservations = world.reservations.filter((other) => other !== mine)
  must(world.keepers.get(mine[0])).spend(reservation, cost)
}

async function finishCell(world: World, hand: Hand, store: TestFlightStore, how: number): Promise<void> {
  const { flight } = hand
  const { actions } = flight.facts
  const { action, heldMillis } = flight.position
  const after = actions[actions.indexOf(action) + 1] ?? null
  const unpaid = action.startsWith('paid') && heldMillis === 0
  const failed = how % 4 === 0
  const status = unpaid ? 'out_of_credits' : failed ? 'failed' : 'complete'
  const credits = status === 'complete' ? heldMillis : 0
  const next = unpaid || how % 8 === 0 ? null : after
  const known = flightOf(world.model, hand)
  const answer = await store.settle(flight, complete(flight, next, credits, { status }))
  expect(answer === null).toBe(known === undefined)
  endReservation(world, hand, answer === null ? 0 : credits)
  const onward = settle(world.model, hand, { status, credits, next })
  world.former.push(hand)
  world.hands = world.hands.filter((other) => other !== hand)
  if (onward !== null) world.hands.push(onward)
}

/** Settles cells that follow each other together. A worker that lost the row writes none of them. */
async function finishTogether(world: World, hand: Hand, store: TestFlightStore, how: number): Promise<void> {
  const { flight } = hand
  const { actions } = flight.facts
  const from = actions.indexOf(flight.position.action)
  const cells = actions.slice(from).filter((action) => action.startsWith('free'))
  if (cells[0] !== flight.position.action || cells.length < 2) return finishCell(world, hand, store, how)
  const next = how % 2 === 0 ? null : (actions[from + cells.length] ?? null)
  const settled = cells.flatMap((action) => complete(withPosition(flight, { action }), next).cells)
  const known = flightOf(world.model, hand)
  expect((await store.settle(flight, { cells: settled, next })) === null).toBe(known === undefined)
  endReservation(world, hand, 0)
  world.former.push(hand)
  world.hands = world.hands.filter((other) => other !== hand)
  let onward: Hand | null = hand
  for (const [n] of cells.entries()) {
    const after = cells[n + 1] ?? next
    if (onward !== null) onward = settle(world.model, onward, { status: 'complete', credits: 0, next: after })
  }
  if (onward !== null) world.hands.push(onward)
}

async function park(world: World, hand: Hand, store: TestFlightStore): Promise<void> {
  const known = flightOf(world.model, hand)
  const parked = await store.park(hand.flight, { ms: 0, retries: hand.flight.position.retries + 1 })
  expect(parked).toBe(known !== undefined)
  endReservation(world, hand, 0)
  world.hands = world.hands.filter((other) => other !== hand)
  world.former.push(hand)
  if (known === undefined) return
  if (must(world.model.runs.get(known.run)).stopped) {
    end(world.model, hand.flight.row.id)
    return
  }
  Object.assign(known, { status: 'queued', ticket: known.ticket + 1, token: Symbol('parked') })
  world.jobs.push({ o: hand.flight.facts.org_id, r: hand.flight.row.id, t: known.ticket })
}

async function abandon(world: World, hand: Hand, store: TestFlightStore): Promise<void> {
  const known = flightOf(world.model, hand)
  expect(await store.abandon(hand.flight)).toBe(known !== undefined)
  if (known !== undefined) end(world.model, hand.flight.row.id)
  endReservation(world, hand, 0)
  world.hands = world.hands.filter((other) => other !== hand)
}

const withHand =
  (act: (world: World, hand: Hand, store: TestFlightStore, how: number) => Promise<void>) =>
  async (world: World, pick: Pick): Promise<void> => {
    const hand = some(world.hands, pick.a)
    if (hand !== undefined) await act(world, hand, storeOf(world, pick), pick.c)
  }

const COMMANDS: Record<string, (world: World, pick: Pick) => Promise<void>> = {
  runAll: (world) => run(world, [...world.model.rows], CHAIN),
  runRows: (world, pick) => run(world, chosen(world, pick), CHAIN),
  runAction: (world, pick) =>
    run(world, chosen(world, pick), CHAIN.slice(pick.b % 4, pick.c % 2 ? 4 : (pick.b % 4) + 1)),
  runFree: (world, pick) => run(world, chosen(world, pick), CHAIN.slice(1, 3)),
  async stop(world) {
    expect(await world.sheet.stop()).toBe(stop(world.model))
  },
  async deleteRow(world, { a }) {
    const row = some([...world.model.rows], a)
    if (row === undefined || a % 3 !== 0) return
    const { org, base } = world.sheet
    expect((await org.call('POST', `${base}/rows/delete`, { row_ids: [row] })).status).toBe(200)
    remove(world.model, row)
  },
  async edit(world, { a }) {
    const { org, base } = world.sheet
    const continue_workflow_if_action_fails = a % 2 === 0
    await org.call('PATCH', `${base}/actions/paid_1`, { continue_workflow_if_action_fails })
    world.revision = (await world.sheet.record()).revision
  },
  async grant(world, { a }) {
    const amount = (a % 3) * 1000
    await world.sheet.grant(amount)
    world.model.credits += amount
  },
  async claim(world, pick) {
    const job = some(world.jobs, pick.a)
    if (job !== undefined) await claim(world, job, storeOf(world, pick))
  },
  /** Does what a worker does with the newest job: claim, reserve, settle. */
  async step(world, pick) {
    const job = world.jobs.findLast(({ r, t }) => world.model.flights.get(r)?.ticket === t)
    if (job === undefined) return
    const store = storeOf(world, pick)
    await claim(world, job, store)
    const hand = must(world.hands.at(-1))
    await reserve(world, hand, store)
    await finishCell(world, hand, store, pick.c)
  },
  async peek(world, pick) {
    if (!isOn('peek')) return
    for (const job of world.jobs.slice(-1 - (pick.a % 5))) await peek(world, job, storeOf(world, pick))
  },
  finishPeeked: (world, pick) => finishPeeked(world, storeOf(world, pick)),
  reserve: withHand(reserve),
  finish: withHand(finishCell),
  finishTogether: withHand(finishTogether),
  park: withHand(park),
  abandon: withHand(abandon),
  /** Ends a worker without a message. The next worker that takes the job has the row. */
  crash: withHand(async (world, hand) => {
    endReservation(world, hand, 0)
    world.hands = world.hands.filter((other) => other !== hand)
  }),
  /** Acts for a worker that was overtaken, or repeats what it has sent. */
  async late(world, pick) {
    const hand = some(world.former, pick.a)
    if (hand === undefined) return
    const store = storeOf(world, pick)
    const { flight } = hand
    expect(await store.settle(flight, complete(flight, null, 0))).toBeNull()
    // After a settlement of its own the worker still has the row.
    if (flightOf(world.model, hand) !== undefined) return
    expect(await store.park(flight, { ms: 0, retries: 0 })).toBe(false)
    expect(await store.abandon(flight)).toBe(false)
  },
}

/** Finishes all flights, and checks that nothing was lost on the way. */
async function drain(world: World): Promise<void> {
  for (let n = 0; world.model.flights.size > 0; n += 1) {
    expect(n).toBeLessThan(100)
    await must(COMMANDS['step'])(world, { a: 0, b: n, c: 1 })
  }
  await expectAgreement(world)
  await expectStatuses(world)
}

const number = fc.nat({ max: 63 })
const command = fc.record({
  kind: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('runAll', 'stop', 'deleteRow', 'edit', 'grant', 'abandon') },
    { weight: 2, arbitrary: fc.constantFrom('runRows', 'runAction', 'crash', 'park', 'late') },
    { weight: 2, arbitrary: fc.constantFrom('runFree', 'peek', 'finishPeeked') },
    { weight: 4, arbitrary: fc.constantFrom('claim', 'reserve', 'finish', 'finishTogether', 'step') },
  ),
  a: number,
  b: number,
  c: number,
})

it.each([
  { parts: 'with fast parts', without: '', runs: 20 },
  { parts: 'without fast parts', without: 'all', runs: 6 },
])(
  'in any order of events, no cell is lost or settled twice and the books agree ($parts)',
  async ({ without, runs }) => {
    onTestFinished(switchOff(readFastParts(without)))
    const keepers = new Map([1, 2].map((lane) => [makeFlightStore(app, lane), makeReservations(app)]))
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 15, maxLength: 45, size: 'max' }), async (commands) => {
        const sheet = await makeFlightSheet(app, ['paid', 'free', 'free', 'paid'], 4 * PRICE)
        const rows = await sheet.addRows(5)
        const { revision } = await sheet.record()
        const model = createModel(rows, 4 * PRICE)
        const known = { jobs: [], hands: [], peeked: [], former: [], reservations: [] }
        const world: World = { keepers, sheet, model, revision, ...known }
        for (const { kind, ...pick } of commands) {
          await must(COMMANDS[kind])(world, pick)
          await expectAgreement(world)
        }
        await expectStatuses(world)
        await drain(world)
      }),
      // The same interleavings each time; LOAM_SEED=<number> tries others, LOAM_RUNS=<number> more of them.
      {
        numRuns: Number(process.env['LOAM_RUNS'] ?? runs),
        seed: Number(process.env['LOAM_SEED'] ?? 20_261_115),
      },
    )
  },
  300_000,
)
