import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../../database/connection/db.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import { isLargerJson } from '../../../lib/json/json-size.ts'
import { toStorableJson } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { sharesLost } from '../purses/purse-keeper.ts'
import { LATE_CHARGE } from '../sql/late-charge.ts'
import type { NamedParameters } from '../sql/named-parameters.ts'
import { type BatchKind, NOT_WHOLE, settleStatement } from '../sql/settle.ts'
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
type SettledGroup = { k: number; ns: number[] | null; run_state: string; shared: boolean }

/** The number of rows that take some milliseconds to be put into a statement: other work gets its turn in between. */
const LARGE = 64
/**
 * The number of lanes of tallies that this process writes in turn, so that two statements at once do not wait for each
 * other.
 */
const LANES = 2

/** Sends the results of many rows as one statement. Returns null for each row whose fence was lost. */
export function createSettler(store: Store, lane: number): (given: Given[]) => Promise<(Settled | null)[]> {
  let round = 0

  /**
   * Sends a batch. A batch whose flights are all finished is either written whole, or fails without saying which are
   * missing; then it is sent again in the form that says so.
   */
  async function send(batch: Given[]): Promise<(Settled | null)[]> {
    const landing = landingOf(batch)
    try {
      return await sendAs(batch, landing)
    } catch (cause) {
      if (landing !== 'all' || !isNotWhole(cause)) throw cause
      return sendAs(batch, 'some')
    }
  }

  /**
   * Sends a batch in one form, and returns an answer or null for each row. If one of them is null, nothing was written.
   */
  async function sendAs(batch: Given[], landing: BatchKind['landing']): Promise<(Settled | null)[]> {
    const own = isOn('tally-lanes') ? (round += 1) % LANES : 0
    const pause = () => (batch.length < LARGE || !isOn('yielding') ? undefined : nextTurn())
    const charges = chargesOf(batch)
    const cells = new CellColumns(batch)
    await pause()
    const outputs = cells.outputsJson()
    await pause()
    const {
      isUniform: uniform,
      hasEndings: keeps,
      hasExtras: extras,
      hasKeys: keyed,
      haveOnePrice: onePrice,
    } = cells
    const groups = groupBy(batch, GROUPED)
    const { alike } = groups
    const careful = batch.length === 1
    const kind = { careful, extras, keyed, landing, keeps, paid: charges !== null, onePrice, uniform, alike }
    const once = (isOnce: boolean, column: readonly (string | number)[]) =>
      arrayOf(isOnce ? column.slice(0, 1) : column)
    const values: Record<string, unknown> = {
      ...flightColumnsOf(batch, groups),
      flights: arrayOf(cells.flights),
      // Ids of actions and statuses are words: nothing in them needs quotes.
      actions: arrayOf(cells.actions),
      statuses: once(uniform, cells.statuses),
      startedAt: arrayOf(cells.startedAt),
      outputs,
      marks: once(uniform, cells.marks),
      billings: toStorableJson(cells.billing),
      tallies: toStorableJson(addUpTallies(batch)),
      usage: toStorableJson(addUpUsage(batch)),
      lane: lane * LANES + own,
    }
    if (!alike) values['groups'] = arrayOf(groups.places)
    if (landing === 'some') values['through'] = arrayOf(batch.map(isFinished))
    if (keeps) values['endings'] = arrayOf(cells.endings)
    if (extras) values['extras'] = toStorableJson(cells.extras)
    if (charges !== null) {
      values['prices'] = once(onePrice, cells.credits)
      Object.assign(values, charges.columns(batch.length))
    }
    await pause()
    const { name, text, names } = statementOf(kind)
    const rows = await store.query<SettledGroup>({ name, text, values: names.map((one) => values[one]) })
    if (rows.some(({ shared }) => !shared)) throw sharesLost()
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
  if (charges === null) return false
  const values: Record<string, unknown> = {
    ...flightColumnsOf(batch, groupBy(batch, GROUPED)),
    ...charges.columns(1, lateDetailsOf(given)),
    tallies: toStorableJson(addUpTallies(batch)),
    usage: toStorableJson(addUpUsage(batch)),
    lane: lane * LANES,
  }
  const { text, names } = LATE_CHARGE
  try {
    await store.query({ name: 'engine-charge-late', text, values: names.map((name) => values[name]) })
    return true
  } catch (cause) {
    if (isNotWhole(cause)) return false
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

function landingOf(batch: Given[]): BatchKind['landing'] {
  const through = batch.filter(isFinished).length
  if (through === 0) return 'none'
  return through === batch.length ? 'all' : 'some'
}

const isFinished = ({ settlement }: Given): boolean => settlement.next === null

const isNotWhole = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === NOT_WHOLE

type Value = string | number
const GROUPED: ((given: Given) => Value)[] = [
  ({ flight }) => flight.facts.run_id,
  ({ flight }) => flight.fence.ticket,
  ({ flight }) => flight.fence.attempt,
]

/** Returns the columns of the groups of a batch, and of its flights. */
function flightColumnsOf(batch: Given[], { firsts }: Groups<Given>): Record<string, string> {
  const ofGroups = (value: (flight: Flight) => Value) => arrayOf(firsts.map(({ flight }) => value(flight)))
  return {
    orgs: ofGroups(({ facts }) => facts.org_id),
    sheets: ofGroups(({ facts }) => facts.sheet_id),
    runs: ofGroups(({ facts }) => facts.run_id),
    revisions: ofGroups(({ facts }) => facts.revision),
    tickets: ofGroups(({ fence }) => fence.ticket),
    attempts: ofGroups(({ fence }) => fence.attempt),
    rows: arrayOf(batch.map(({ flight }) => flight.row.id)),
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

type SettleStatement = NamedParameters & { name: string }
const statements = new Map<string, SettleStatement>()

/** Returns the statement for a kind of batch. It is made once for each kind. */
function statementOf(kind: BatchKind): SettleStatement {
  const { extras, keyed, careful, keeps, paid, onePrice, uniform, alike } = kind
  const marks = [extras, keyed, careful, keeps, paid, paid && onePrice, uniform, alike].map(Number).join('')
  const name = `engine-settle-${kind.landing}-${marks}`
  let statement = statements.get(name)
  if (statement === undefined) statements.set(name, (statement = { name, ...settleStatement(kind) }))
  return statement
}
