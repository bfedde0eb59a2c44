import { toStorableJson } from '../../lib/json/storable.ts'
import type { Store } from '../../store/connection/db.ts'
import { sharesLost } from '../purses/purse-keeper.ts'
import type { Hold } from '../purses/share.ts'
import { type BatchKind, CACHED, LEARNS, NOT_WHOLE, settleStatement } from '../sql/settle.ts'
import { addUpUsage } from './cell-usage.ts'
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
    const charges = new Charges()
    const extras = batch.flatMap(({ flight, settlement: { cells } }) =>
      cells.map((cell, n) =>
        extrasOf(cell, n === 0 ? flight.position : UNTOUCHED, charges.numberOf(flight, cell)),
      ),
    )
    const careful = batch.length === 1
    const kind = {
      careful,
      extras: careful || extras.some((one) => one !== null),
      landing,
      paid: charges.groups.length > 0,
    }
    const values: unknown[] = [
      ...columnsOf(batch),
      lane * LANES + (round % LANES),
      marksOf(batch),
      toStorableJson(addUpUsage(batch)),
      billingOf(batch),
    ]
    if (kind.extras) values.push(toStorableJson(extras))
    if (kind.paid) values.push(...charges.columns())
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

/** What a free cell that completed at the first attempt has nothing of. `charge` is the number of its group of charges. */
function extrasOf(cell: SettledCell, { retries, state }: Passed, charge: number): object | null {
  const { creditsMillis, cache, error, provenance } = cell
  const extras: Record<string, unknown> = {}
  if (error !== undefined) extras['err'] = error
  if (provenance !== undefined) extras['pv'] = provenance
  if (retries > 0) extras['tries'] = retries + 1
  if (charge > 0) Object.assign(extras, { cr: creditsMillis, g: charge, ...originOf(cell) })
  if (cache !== undefined) Object.assign(extras, { ck: cache.key, ep: cache.epoch })
  if (cache?.keep === true) extras['kp'] = true
  if (retries > 0 || state !== null) extras['cl'] = true
  for (const _ in extras) return extras
  return null
}

/** What a charge is for: the action of the catalogue, and the providers that are paid. */
function originOf({ actionId, provenance }: SettledCell): object {
  const paid = (provenance ?? []).filter(({ credits }) => credits > 0)
  return {
    ai: actionId,
    ...(paid.length > 0 && { pc: paid.map(({ provider, credits }) => ({ provider, credits })) }),
  }
}

/** Charges of a batch: those of one run that are paid of the same shares are one record. */
class Charges {
  readonly groups: { facts: RunFacts; hold: Hold }[] = []
  readonly #numbers = new Map<string, number>()

  /** From 1; 0 for a cell that costs nothing. */
  numberOf({ facts, position: { hold } }: Flight, { creditsMillis, action }: SettledCell): number {
    if (creditsMillis === 0) return 0
    if (hold === null) throw new Error(`${action} of run ${facts.run_id} costs credits and holds none`)
    const key = `${hold.holder.id} ${facts.run_id} ${hold.purseIds.join(' ')}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.groups.push({ facts, hold })
    this.#numbers.set(key, this.groups.length)
    return this.groups.length
  }

  columns(): unknown[] {
    const shares = new Map<string, [string, string, string]>()
    for (const { hold } of this.groups) {
      const { holder, orgId } = hold
      for (const purse of [orgId, ...hold.purseIds])
        shares.set(`${purse} ${holder.id}`, [orgId, purse, holder.id])
    }
    const column = (place: 0 | 1 | 2) => [...shares.values()].map((share) => share[place])
    const groups = this.groups.map(({ facts, hold }, n) => {
      const { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version } = facts
      const f = { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version }
      return { n: n + 1, o: hold.orgId, h: hold.holder.id, p: hold.purseIds, f }
    })
    return [column(0), column(1), column(2), JSON.stringify(groups)]
  }
}
