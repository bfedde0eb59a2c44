import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../../database/connection/db.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import { isLargerJson } from '../../../lib/json/json-size.ts'
import { toStorableJson } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { leasesLost } from '../leases/lease-requests.ts'
import { LATE_CHARGE } from '../sql/late-charge.ts'
import { FLIGHT_LOST, SETTLE, type SettleForm, LEASE_LOST } from '../sql/settle.ts'
import { CellColumns } from './cell-columns.ts'
import { addUpUsage } from './cell-usage.ts'
import { chargesOf } from './charges.ts'
import type { Flight, Settlement } from './flight.ts'
import { arrayOf, groupBy, type Groups } from './groups.ts'
import { addUpTallies } from './run-tallies.ts'

export type Settled = { runState: string }
export type Given = { flight: Flight; settlement: Settlement }
/**
 * The flights of the group `k`: those at the places `ns` of the batch, from 1, or all of the group if the whole batch
 * was written.
 */
type SettledGroup = { k: number; ns: number[] | null; run_state: string }

/** The number of rows that take some milliseconds to be put into a statement: other work gets its turn in between. */
const LARGE = 64
/** Sends the results of many rows as one statement. Returns null for each row whose fence was lost. */
export function createSettler(store: Store, lane: number): (given: Given[]) => Promise<(Settled | null)[]> {
  /**
   * Sends a batch. The forms for plain cells assume that no cells stand in their places, and the one for last cells
   * that no flight was lost. Where that is not so, the batch is sent again in the form for any cells.
   */
  async function send(batch: Given[]): Promise<(Settled | null)[]> {
    const cells = new CellColumns(batch)
    const form = formOf(batch, cells)
    try {
      return await sendAs(form, batch, cells)
    } catch (cause) {
      if (hasCode(cause, LEASE_LOST)) throw leasesLost()
      if (form === 'any' || !(hasCode(cause, FLIGHT_LOST) || hasCode(cause, UNIQUE_VIOLATION))) throw cause
      return sendAs('any', batch, cells)
    }
  }

  /** Sends a batch in one form, and returns an answer or null for each row. If one is null, nothing was written. */
  async function sendAs(form: SettleForm, batch: Given[], cells: CellColumns): Promise<(Settled | null)[]> {
    const pause = () => (batch.length < LARGE || !isOn('yielding') ? undefined : nextTurn())
    const groups = groupBy(batch, GROUPED)
    await pause()
    const outputs = cells.outputsJson()
    await pause()
    const values: Record<string, unknown> = {
      ...flightColumnsOf(batch, groups),
      ...cells.columns(),
      ...chargesOf(batch).columns(batch.length),
      outputs,
      tallies: toStorableJson(addUpTallies(batch)),
      usage: toStorableJson(addUpUsage(batch)),
      lane,
    }
    await pause()
    const { name, text, names } = SETTLE[form]
    const rows = await store.query<SettledGroup>({ name, text, values: names.map((one) => values[one]) })
    return answersOf(groups, rows)
  }

  return async (given) => {
    // Every statement that locks flights locks them in the order of their rows.
    let batch = given.toSorted((one, other) => (one.flight.row.id < other.flight.row.id ? -1 : 1))
    let answers = await send(batch)
    while (answers.includes(null) && answers.some((answer) => answer !== null)) {
      batch = batch.filter((_, n) => answers[n] !== null)
      answers = await send(batch)
    }
    const answerOf = new Map(batch.map((item, n) => [item, answers[n] ?? null]))
    return given.map((item) => answerOf.get(item) ?? null)
  }
}

/**
 * Posts the charge of a cell that was settled too late, because its flight was dropped during the call. Returns false
 * if that is not the case, and nothing was written.
 */
export async function chargeLate(store: Store, lane: number, given: Given): Promise<boolean> {
  const batch = [given]
  const charges = chargesOf(batch)
  if (charges.isEmpty()) return false
  const values: Record<string, unknown> = {
    ...flightColumnsOf(batch, groupBy(batch, GROUPED)),
    ...charges.columns(1, lateDetailsOf(given)),
    tallies: toStorableJson(addUpTallies(batch)),
    usage: toStorableJson(addUpUsage(batch)),
    lane,
  }
  const { text, names } = LATE_CHARGE
  try {
    await store.query({ name: 'engine-charge-late', text, values: names.map((name) => values[name]) })
    return true
  } catch (cause) {
    if (hasCode(cause, FLIGHT_LOST) || hasCode(cause, LEASE_LOST)) return false
    throw cause
  }
}

/** The limit of all results together, as JSON. Larger results are not stored in the ledger. */
const MAX_KEPT_RESULTS = 32 * 1024

/** Returns what the ledger stores of cells whose rows no longer exist: nobody could see it otherwise. */
function lateDetailsOf({ flight, settlement }: Given): object {
  const { run_id } = flight.facts
  const paid = settlement.cells.filter(({ creditsMillis }) => creditsMillis > 0)
  const results = Object.fromEntries(
    paid.map(({ action, outputs }) => [action, outputs instanceof StoredJson ? outputs.value : outputs]),
  )
  const kept = isLargerJson(results, MAX_KEPT_RESULTS) ? {} : { results }
  return { run_id, row_id: flight.row.id, ...kept }
}

const isFinished = ({ settlement }: Given): boolean => settlement.next === null

function formOf(batch: Given[], { arePlain }: CellColumns): SettleForm {
  if (!arePlain) return 'any'
  return batch.every(isFinished) ? 'last' : 'plain'
}

const UNIQUE_VIOLATION = '23505'
const hasCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === code

type Value = string | number
const nextActionOf = ({ settlement }: Given): string => settlement.cells[0]?.action ?? ''
const GROUPED: ((given: Given) => Value)[] = [
  ({ flight }) => flight.facts.run_id,
  ({ flight }) => flight.fence.ticket,
  ({ flight }) => flight.fence.attempt,
  nextActionOf,
]

/** Returns the columns of the groups of a batch, and of its flights. */
function flightColumnsOf(batch: Given[], { firsts, places }: Groups<Given>): Record<string, string> {
  const ofGroups = (value: (flight: Flight) => Value) => arrayOf(firsts.map(({ flight }) => value(flight)))
  return {
    orgs: ofGroups(({ facts }) => facts.org_id),
    sheets: ofGroups(({ facts }) => facts.sheet_id),
    runs: ofGroups(({ facts }) => facts.run_id),
    revisions: ofGroups(({ facts }) => facts.revision),
    tickets: ofGroups(({ fence }) => fence.ticket),
    attempts: ofGroups(({ fence }) => fence.attempt),
    nextActions: arrayOf(firsts.map(nextActionOf)),
    rows: arrayOf(batch.map(({ flight }) => flight.row.id)),
    groups: arrayOf(places),
    finished: arrayOf(batch.map(isFinished)),
  }
}

function answersOf({ places }: Groups<Given>, rows: readonly SettledGroup[]): (Settled | null)[] {
  const answers: (Settled | null)[] = places.map(() => null)
  for (const { k, ns, run_state } of rows) {
    const answer = { runState: run_state }
    if (ns === null) for (const [n, place] of places.entries()) if (place === k) answers[n] = answer
    for (const n of ns ?? []) answers[n - 1] = answer
  }
  return answers
}
