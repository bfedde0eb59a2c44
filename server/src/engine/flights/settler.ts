import { toStorableJson } from '../../lib/json/storable.ts'
import type { Store } from '../../store/connection/db.ts'
import { sharesLost } from '../purses/purse-keeper.ts'
import { type BatchKind, CACHED, LEARNS, NOT_WHOLE, settleStatement } from '../sql/settle.ts'
import { addUpUsage } from './cell-usage.ts'
import { chargesOf } from './charges.ts'
import type { Flight, Position, RunFacts, SettledCell, Settlement } from './flight.ts'

export type Settled = { runState: string }
type Given = { flight: Flight; settlement: Settlement }
/** `ns` are places in the batch, from 1. */
type SettledRun = { ns: number[]; run_state: string; shared: boolean }

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
    round += 1
    const charges = chargesOf(batch)
    const extras = batch.flatMap(({ flight, settlement: { cells } }) =>
      cells.map((cell, n) => extrasOf(cell, n === 0 ? flight.position : UNTOUCHED)),
    )
    const careful = batch.length === 1
    const kind = {
      careful,
      extras: careful || extras.some((one) => one !== null),
      landing,
      paid: charges !== null,
    }
    const values: unknown[] = [
      ...columnsOf(batch),
      lane * LANES + (round % LANES),
      marksOf(batch),
      toStorableJson(addUpUsage(batch)),
      billingOf(batch),
    ]
    if (charges !== null) values.push(creditsOf(batch), ...charges.columns())
    if (kind.extras) values.push(toStorableJson(extras))
    const rows = await store.query<SettledRun>({
      name: `engine-settle-${landing}-${Number(kind.extras)}${Number(careful)}${Number(kind.paid)}`,
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
  const through = batch.filter(({ settlement }) => settlement.next === null).length
  if (through === 0) return 'none'
  // One flight alone is settled carefully.
  return through === batch.length && through > 1 ? 'all' : 'some'
}

const isNotWhole = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && cause.code === NOT_WHOLE

function columnsOf(batch: Given[]): string[] {
  const runs = new Map<string, { facts: RunFacts; k: number }>()
  for (const {
    flight: { facts },
  } of batch) {
    if (!runs.has(facts.run_id)) runs.set(facts.run_id, { facts, k: runs.size + 1 })
  }
  const shared = [...runs.values()]
  const cells = batch.flatMap(({ settlement }, n) =>
    settlement.cells.map((cell, place) => ({
      cell,
      f: n + 1,
      ends: settlement.next === null && place === settlement.cells.length - 1,
    })),
  )
  // Ids of actions and statuses are words: nothing in them needs quotes.
  const column = <Item>(items: Item[], value: (item: Item) => string | number | boolean) =>
    `{${items.map(value).join(',')}}`
  return [
    column(shared, ({ facts }) => facts.org_id),
    column(shared, ({ facts }) => facts.sheet_id),
    column(shared, ({ facts }) => facts.run_id),
    column(shared, ({ facts }) => facts.revision),
    column(batch, ({ flight }) => runs.get(flight.fence.run)?.k ?? 0),
    column(batch, ({ flight }) => flight.row.id),
    column(batch, ({ flight }) => flight.fence.ticket),
    column(batch, ({ flight }) => flight.fence.attempt),
    column(cells, ({ f }) => f),
    column(cells, ({ cell }) => cell.action),
    column(cells, ({ cell }) => cell.status),
    column(cells, ({ cell }) => cell.startedAt),
    column(cells, ({ ends }) => ends),
    toStorableJson(cells.map(({ cell }) => cell.outputs ?? null)),
  ]
}

function marksOf(batch: Given[]): string {
  const marks = batch.flatMap(({ settlement }) =>
    settlement.cells.map(({ cached, learns }) => (cached ? CACHED : 0) + (learns === true ? LEARNS : 0)),
  )
  return `{${marks.join(',')}}`
}

/** What cells keep of their costs, as JSON in an array; most keep nothing. */
function billingOf(batch: Given[]): string {
  const texts = batch.flatMap(({ settlement }) =>
    settlement.cells.map(({ billing }) =>
      billing === undefined ? 'null' : JSON.stringify(JSON.stringify(billing)),
    ),
  )
  return `{${texts.join(',')}}`
}

type Passed = Pick<Position, 'retries' | 'state'>
const UNTOUCHED: Passed = { retries: 0, state: null }

/** What a cell that completed at the first attempt has nothing of. */
function extrasOf(cell: SettledCell, { retries, state }: Passed): object | null {
  const { cache, error, provenance } = cell
  const extras: Record<string, unknown> = {}
  if (error !== undefined) extras['err'] = error
  if (provenance !== undefined) extras['pv'] = provenance
  if (retries > 0) extras['tries'] = retries + 1
  if (cache !== undefined) Object.assign(extras, { ck: cache.key, ep: cache.epoch })
  if (cache?.keep === true) extras['kp'] = true
  if (retries > 0 || state !== null) extras['cl'] = true
  for (const _ in extras) return extras
  return null
}

function creditsOf(batch: Given[]): string {
  const credits = batch.flatMap(({ settlement }) =>
    settlement.cells.map(({ creditsMillis }) => creditsMillis),
  )
  return `{${credits.join(',')}}`
}
