import { LRUCache } from 'lru-cache'
import type { Store } from '../../../database/connection/db.ts'
import type { HandedRow } from '../../../database/queue/hand-over.ts'
import { toStorableJson } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { waitingFor } from '../leases/refusal-words.ts'
import { ABANDON } from '../sql/abandon.ts'
import { IN_FLIGHT } from '../sql/in-flight.ts'
import { MARK_TESTED } from '../sql/mark-tested.ts'
import { PARK } from '../sql/park.ts'
import { createBatchedStatement, inGroups } from './batched-statement.ts'
import {
  type ClaimedRow,
  createClaimer,
  createPeeker,
  type PeekedRow,
  type PeekingJob,
  UNCLAIMED,
} from './claiming.ts'
import type { Flight, Parking, RowJob, RunFacts } from './flight.ts'
import { createRunFacts } from './run-facts.ts'
import { chargeLate, createSettler, type Given, type Settled } from './settler.ts'

/** The statements by which workers write, in micro-batches: one statement carries the rows of many. */
export type FlightStore = {
  /**
   * Claims a flight. Express rows have statements of their own, and do not wait for bulk rows. `fresh`: no worker can
   * have settled a cell of the flight. `resumed`: this worker had the job and lost the database.
   */
  claim(job: RowJob, how?: { express?: boolean; fresh?: boolean; resumed?: boolean }): Promise<Flight | null>
  /**
   * Claims and peeks at fresh rows of the run without their results from earlier runs, because the run does not read
   * them.
   */
  leaveEarlierResults(run: RunFacts): void
  /** Returns the flights of fresh jobs without claiming them, and null for each that a worker has claimed. */
  peekAll(jobs: readonly RowJob[]): Promise<(Flight | null)[]>
  /** Returns the flight of a row that was read when its job was made. */
  adopt(job: RowJob, handed: Pick<HandedRow, 'data' | 'cells'> & { facts: RunFacts }): Flight
  /**
   * Settles cells of rows that are in hand together. Returns null for each row that lost its fence: another worker has
   * it now, and nothing was written.
   */
  settleAll(given: readonly Given[], express?: boolean): Promise<(Settled | null)[]>
  /**
   * Posts the charge for a call whose row was deleted, or run again, while it was made. Returns false if that is not
   * the case.
   */
  chargeLate(given: Given): Promise<boolean>
  park(flight: Flight, parking: Parking): Promise<boolean>
  abandon(flight: Flight): Promise<boolean>
  /** Notes the number of suspects that the row is about to be run with. */
  markTested(flight: Flight, size: number): Promise<boolean>
  /** Returns whether the flight's job still has something to do, for any worker. */
  isInFlight(flight: Flight): Promise<boolean>
}

/** The most cells in one statement. */
const MAX_CELLS = 1000
/** The number of rows that are claimed, and of cells that are settled, without waiting for more. */
const ENOUGH = { rows: 400, cells: 800 }

type RowItem = { r: string; [field: string]: unknown }

/**
 * Encodes items in the order of their rows, because every statement that locks flights must lock them in that order.
 */
function parameterOf(items: readonly RowItem[]): string {
  const numbered = items.map((item, n) => ({ n, ...item }))
  return toStorableJson(numbered.sort((one, other) => (one.r < other.r ? -1 : 1)))
}

function answersOf<Row extends { n: number }>(
  items: readonly RowItem[],
  rows: readonly Row[],
): (Row | null)[] {
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  return items.map((_, n) => byNumber.get(n) ?? null)
}

export function createFlightStore(store: Store, lane: number): FlightStore {
  return { ...createReading(store), ...createWriting(store, lane) }
}

type Reading = Pick<FlightStore, 'claim' | 'leaveEarlierResults' | 'peekAll' | 'adopt'>

/** Creates the statements by which workers get flights. */
function createReading(store: Store): Reading {
  const claim = createBatchedStatement({
    lanes: 2,
    throttled: true,
    enough: ENOUGH.rows,
    send: createClaimer(store),
  })
  const claimExpress = createBatchedStatement({ lanes: 1, send: createClaimer(store) })
  const peek = createBatchedStatement({
    lanes: 2,
    throttled: true,
    sizeOf: ({ length }) => length,
    send: inGroups<PeekingJob, PeekedRow>(createPeeker(store)),
  })
  const runFacts = createRunFacts(store)
  const skipping = new LRUCache<string, true>({ max: 1000 })
  const reads = ({ run }: RowJob) => run === undefined || !skipping.has(run)

  async function peekAll(jobs: readonly RowJob[]): Promise<(Flight | null)[]> {
    const rows = (await peek(jobs.map((job) => ({ ...job, reads: reads(job) })))) ?? []
    const flights: (Flight | null)[] = []
    for (const [n, job] of jobs.entries()) {
      const row = rows[n] ?? null
      const facts = row === null ? null : await runFacts.of(job.o, row.run_id)
      flights.push(
        row === null || facts === null ? null : toFlight(job, facts, { ...UNCLAIMED, ...row }, false),
      )
    }
    return flights
  }

  return {
    async claim(job, { express = false, fresh = false, resumed = false } = {}) {
      // Reads the facts that will most likely be needed. A failure is raised where they are used.
      if (job.run !== undefined) void runFacts.of(job.o, job.run)
      const asked = { ...job, fresh, resumed, reads: !fresh || reads(job) }
      const row = await (express ? claimExpress : claim)(asked)
      if (row === null) return null
      const { cap_purse_id } = row
      const facts = await runFacts.of(job.o, row.run_id)
      const current = cap_purse_id === facts.cap_purse_id ? facts : { ...facts, cap_purse_id }
      return toFlight(job, current, row, resumed)
    },
    leaveEarlierResults: ({ run_id }) => void skipping.set(run_id, true),
    peekAll,
    adopt(job, { facts, data, cells }) {
      runFacts.remember(facts)
      return toFlight(job, facts, { ...UNCLAIMED, n: 1, run_id: facts.run_id, data, cells }, false)
    },
  }
}

/** Creates the statements by which workers change flights. `lane` is the first of their lanes of tallies. */
function createWriting(store: Store, lane: number): Omit<FlightStore, keyof Reading> {
  const batched = <Row extends { n: number }>(name: string, text: string) =>
    createBatchedStatement<RowItem, Row>({
      lanes: 2,
      async send(items) {
        return answersOf(items, await store.query<Row>({ name, text, values: [parameterOf(items)] }))
      },
    })
  const settling = (lanes: number, from: number, throttled: boolean) =>
    createBatchedStatement({
      lanes,
      throttled,
      send: inGroups<Given, Settled>(createSettler(store, from)),
      maxItems: MAX_CELLS,
      enough: ENOUGH.cells,
      sizeOf: countCells,
    })
  const settle = settling(2, lane, true)
  const settleExpress = settling(1, lane + 1, false)
  const park = batched<{ n: number }>('engine-park', PARK)
  const abandon = batched<{ n: number }>('engine-abandon', ABANDON)
  const markTested = batched<{ n: number }>('engine-mark-tested', MARK_TESTED)
  const inFlight = batched<{ n: number }>('engine-in-flight', IN_FLIGHT)

  return {
    settleAll: async (given, express = false) => (await (express ? settleExpress : settle)(given)) ?? [],
    chargeLate: (given) => chargeLate(store, lane, given),
    async park(flight, { ms, retries, state, priority }) {
      const wt = waitingFor(flight.position.refusal)
      const item = { ms: Math.ceil(ms), tries: retries, state: state ?? null, pr: priority ?? 0, wt }
      return (await park({ ...fenceOf(flight), ...item })) !== null
    },
    abandon: async (flight) => (await abandon(fenceOf(flight))) !== null,
    markTested: async (flight, size) => (await markTested({ ...fenceOf(flight), size })) !== null,
    isInFlight: async ({ facts, row, fence }) =>
      (await inFlight({ o: facts.org_id, r: row.id, t: fence.ticket })) !== null,
  }
}

/** The characters of large outputs that count as one cell, so that a statement carries some megabytes at most. */
const CHARACTERS_OF_CELL = 4 * 1024

function countCells(given: readonly Given[]): number {
  let count = 0
  for (const { settlement } of given)
    for (const { outputs } of settlement.cells)
      count += outputs instanceof StoredJson ? 1 + Math.round(outputs.text.length / CHARACTERS_OF_CELL) : 1
  return count
}

function toFlight(
  { r, t }: RowJob,
  facts: RunFacts,
  claimed: Omit<ClaimedRow, 'cap_purse_id'>,
  resumed: boolean,
): Flight {
  const { attempt, settled, retries, state, run_state, data, cells } = claimed
  const { stalled_claims: stalledClaims, tested_in: testedIn } = claimed
  const isRead = data === null || data.startsWith('{')
  const action = facts.actions[settled]
  if (action === undefined)
    throw new Error(`row ${r} has results for every action of its run and is still in flight`)
  return {
    facts,
    row: isRead
      ? { id: r, data, cells, unreadBytes: 0 }
      : { id: r, data: null, cells, unreadBytes: Number(data) },
    fence: { run: facts.run_id, ticket: t, attempt },
    position: {
      action,
      retries,
      heldMillis: 0,
      reservation: null,
      refusal: null,
      state,
      stalledClaims,
      isTakenOver: resumed || stalledClaims > 1,
      hasFailed: false,
      testedIn,
    },
    runState: run_state,
  }
}

function fenceOf({ facts, row, fence }: Flight) {
  return { o: facts.org_id, r: row.id, run: fence.run, t: fence.ticket, a: fence.attempt }
}
