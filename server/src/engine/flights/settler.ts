import { setImmediate as nextTurn } from 'node:timers/promises'
import { toStorableJson } from '../../lib/json/storable.ts'
import type { Store } from '../../store/connection/db.ts'
import { sharesLost } from '../purses/purse-keeper.ts'
import { type BatchKind, NOT_WHOLE, settleStatement } from '../sql/settle.ts'
import { CellColumns } from './cell-columns.ts'
import { addUpUsage } from './cell-usage.ts'
import { chargesOf } from './charges.ts'
import type { Flight, RunFacts, Settlement } from './flight.ts'
import { addUpTallies } from './run-tallies.ts'

export type Settled = { runState: string }
export type Given = { flight: Flight; settlement: Settlement }
/** `ns` are places in the batch, from 1. */
type SettledRun = { ns: number[]; run_state: string; shared: boolean }

/** Rows that take some milliseconds to be put into a statement: others come to their turn in between. */
const LARGE = 64
/** Lanes of tallies that this process writes in turn, so that two statements at once do not wait for each other. */
const LANES = 2

/** Sends the results of many rows as one statement, and answers null for those whose fence was lost. */
export function createSettler(store: Store, lane: number): (given: Given[]) => Promise<(Settled | null)[]> {
  let round = 0

  /** Batches whose flights are all through either are whole or tell nothing of who is missing. */
  async function send(batch: Given[]): Promise<Map<Given, Settled>> {
    const landing = landingOf(batch)
    try {
      return await sendAs(batch, landing)
    } catch (cause) {
      if (landing !== 'all' || !isNotWhole(cause)) throw cause
      return sendAs(batch, 'some')
    }
  }

  /** What came of it for each; when that is not something for all of them, nothing was written. */
  async function sendAs(batch: Given[], landing: BatchKind['landing']): Promise<Map<Given, Settled>> {
    const own = (round += 1) % LANES
    const pause = () => (batch.length < LARGE ? undefined : nextTurn())
    const charges = chargesOf(batch)
    const cells = new CellColumns(batch)
    await pause()
    const outputs = cells.outputsJson()
    await pause()
    const careful = batch.length === 1
    const uniform = cells.isUniform
    const { hasExtras: extras, hasKeys: keyed, haveOnePrice: onePrice } = cells
    const kind = { careful, extras, keyed, landing, paid: charges !== null, onePrice, uniform }
    const credits = arrayOf(onePrice ? cells.credits.slice(0, 1) : cells.credits)
    const each = (column: readonly (string | number)[]) => arrayOf(uniform ? column.slice(0, 1) : column)
    const values: unknown[] = [
      ...flightColumnsOf(batch),
      // Ids of actions and statuses are words: nothing in them needs quotes.
      arrayOf(cells.flights),
      arrayOf(cells.actions),
      each(cells.statuses),
      arrayOf(cells.startedAt),
      toStorableJson(addUpTallies(batch)),
      outputs,
      lane * LANES + own,
      each(cells.marks),
      toStorableJson(addUpUsage(batch)),
      toStorableJson(cells.billing),
    ]
    if (charges !== null) values.push(credits, ...charges.columns(batch.length))
    if (kind.extras) values.push(toStorableJson(cells.extras))
    if (landing === 'some') values.push(arrayOf(batch.map(isThrough)))
    await pause()
    const rows = await store.query<SettledRun>({
      name: `engine-settle-${landing}-${[extras, keyed, careful, kind.paid, kind.paid && onePrice, uniform].map(Number).join('')}`,
      text: settleStatement(kind),
      values,
    })
    if (rows.some(({ shared }) => !shared)) throw sharesLost()
    const answers = new Map<Given, Settled>()
    for (const { ns, run_state } of rows) {
      const answer = { runState: run_state }
      for (const n of ns) {
        const item = batch[n - 1]
        if (item !== undefined) answers.set(item, answer)
      }
    }
    return answers
  }

  return async (given) => {
    // Everything that locks flights does so in the order of their rows.
    let batch = given.toSorted((one, other) => (one.flight.row.id < other.flight.row.id ? -1 : 1))
    let answers = await send(batch)
    while (answers.size > 0 && answers.size < batch.length) {
      batch = batch.filter((item) => answers.has(item))
      answers = await send(batch)
    }
    return given.map((item) => answers.get(item) ?? null)
  }
}

function landingOf(batch: Given[]): BatchKind['landing'] {
  const through = batch.filter(isThrough).length
  if (through === 0) return 'none'
  // One flight alone is settled carefully.
  return through === batch.length && through > 1 ? 'all' : 'some'
}

const isThrough = ({ settlement }: Given): boolean => settlement.next === null

const isNotWhole = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === NOT_WHOLE

const arrayOf = (items: readonly (string | number | boolean)[]): string => `{${items.join(',')}}`

/** The runs of a batch, and its flights. */
function flightColumnsOf(batch: Given[]): string[] {
  const runs = new Map<string, { facts: RunFacts; k: number }>()
  const runOf: number[] = []
  for (const {
    flight: { facts },
  } of batch) {
    let run = runs.get(facts.run_id)
    if (run === undefined) runs.set(facts.run_id, (run = { facts, k: runs.size + 1 }))
    runOf.push(run.k)
  }
  const shared = [...runs.values()]
  return [
    arrayOf(shared.map(({ facts }) => facts.org_id)),
    arrayOf(shared.map(({ facts }) => facts.sheet_id)),
    arrayOf(shared.map(({ facts }) => facts.run_id)),
    arrayOf(shared.map(({ facts }) => facts.revision)),
    arrayOf(runOf),
    arrayOf(batch.map(({ flight }) => flight.row.id)),
    arrayOf(batch.map(({ flight }) => flight.fence.ticket)),
    arrayOf(batch.map(({ flight }) => flight.fence.attempt)),
  ]
}
