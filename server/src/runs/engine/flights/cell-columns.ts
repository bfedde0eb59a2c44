import { toStorableJson } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { ENDS_ROW, GOES_ON } from '../sql/settle.ts'
import type { CellBilling, Position, RunFacts, SettledCell, Settlement } from './flight.ts'
import { arrayOf } from './groups.ts'

/** The cells of a batch by column. They are gone through once, because there are very many. */
export class CellColumns {
  /** The places of their flights in the batch, from 1. */
  readonly flights: number[] = []
  readonly actions: string[] = []
  readonly statuses: string[] = []
  readonly startedAt: number[] = []
  readonly outputs: (SettledCell['outputs'] | null)[] = []
  readonly cached: boolean[] = []
  readonly learns: boolean[] = []
  /** The notes that cells store about their costs. Most store nothing, and many the same. */
  readonly billings: CellBilling[] = []
  /** The place of the note of each cell, from 1, or 0. */
  readonly billing: number[] = []
  readonly credits: number[] = []
  readonly extras: (object | null)[] = []
  /** The ending of each cell without a result of its own. 0 for all others. */
  readonly endings: number[] = []
  /** Set if all cells have results of their own, and leave nothing in the cache or in a flight that goes on. */
  arePlain = true
  #hasExtras = false
  readonly #learned = new Map<string, number>()
  readonly #places = new Map<CellBilling, number>()

  constructor(batch: readonly { flight: PassedFlight; settlement: Settlement }[]) {
    let n = 0
    for (const { flight, settlement } of batch) {
      n += 1
      const { cells } = settlement
      for (let place = 0; place < cells.length; place += 1) {
        const cell = cells[place]
        if (cell === undefined) continue
        this.flights.push(n)
        this.endings.push(WITHOUT_RESULT.has(cell.status) ? this.#endingOf(settlement, place) : 0)
        const passed = place === 0 ? flight.position : UNTOUCHED
        if (settlement.next !== null && isTouched(passed)) this.arePlain = false
        this.#add(flight.facts, cell, passed)
      }
    }
  }

  #endingOf({ cells, next }: Settlement, place: number): number {
    this.arePlain = false
    return next === null && place === cells.length - 1 ? ENDS_ROW : GOES_ON
  }

  #add(facts: PassedFlight['facts'], cell: SettledCell, passed: Passed): void {
    this.actions.push(cell.action)
    this.statuses.push(cell.status)
    this.startedAt.push(cell.startedAt)
    this.outputs.push(cell.outputs ?? null)
    this.cached.push(cell.cached)
    this.learns.push(this.#isLearnedFrom(facts, cell))
    this.billing.push(cell.billing === undefined ? 0 : this.#placeOf(cell.billing))
    this.credits.push(cell.creditsMillis)
    const extras = extrasOf(cell, passed)
    this.extras.push(extras)
    if (extras !== null) this.#hasExtras = true
    if (cell.cache !== undefined) this.arePlain = false
  }

  #placeOf(billing: CellBilling): number {
    let place = this.#places.get(billing)
    if (place === undefined) this.#places.set(billing, (place = this.billings.push(billing)))
    return place
  }

  /** Returns the columns but the outputs as parameters of a statement. */
  columns(): Record<string, string | null> {
    return {
      flights: arrayOf(this.flights),
      // Ids of actions and statuses are words: nothing in them needs quotes.
      actions: arrayOf(this.actions),
      statuses: arrayOf(this.statuses),
      startedAt: arrayOf(this.startedAt),
      cached: arrayOf(this.cached),
      learns: arrayOf(this.learns),
      billing: arrayOf(this.billing),
      billings: toStorableJson(this.billings),
      prices: arrayOf(this.credits),
      endings: arrayOf(this.endings),
      extras: this.#hasExtras ? toStorableJson(this.extras) : null,
    }
  }

  /** Returns the outputs as a JSON array that PostgreSQL certainly accepts. */
  outputsJson(): string {
    const { outputs } = this
    if (!outputs.some((one) => one instanceof StoredJson)) return toStorableJson(outputs)
    return `[${outputs.map((one) => (one instanceof StoredJson ? one.text : toStorableJson(one))).join()}]`
  }

  /**
   * Returns whether the cell is marked as an example of what its action returns. Cells of a batch complete at one
   * moment, so a few are enough, and each is one more entry in an index.
   */
  #isLearnedFrom({ sheet_id }: PassedFlight['facts'], { action, learns }: SettledCell): boolean {
    if (learns !== true) return false
    const key = `${sheet_id} ${action}`
    const count = this.#learned.get(key) ?? 0
    if (count === MAX_LEARNED) return false
    this.#learned.set(key, count + 1)
    return true
  }
}

const MAX_LEARNED = 8
/** Statuses of a cell that gets its former result back (D84). */
const WITHOUT_RESULT = new Set<SettledCell['status']>(['out_of_credits', 'condition_not_met'])

type Passed = Pick<Position, 'retries' | 'state'>
type PassedFlight = { facts: Pick<RunFacts, 'sheet_id'>; position: Passed }
const UNTOUCHED: Passed = { retries: 0, state: null }
const isTouched = ({ retries, state }: Passed): boolean => retries > 0 || state !== null

/** Returns the values that a cell completed at the first attempt does not have. */
function extrasOf(cell: SettledCell, passed: Passed): object | null {
  const { cache, error, provenance } = cell
  const isPlain = cache === undefined && error === undefined && provenance === undefined
  if (isPlain && !isTouched(passed)) return null
  const extras: Record<string, unknown> = {}
  if (error !== undefined) extras['err'] = error
  if (provenance !== undefined) extras['pv'] = provenance
  if (passed.retries > 0) extras['tries'] = passed.retries + 1
  if (cache !== undefined) Object.assign(extras, { ck: cache.key, ep: cache.epoch })
  if (cache?.keep === true) extras['kp'] = true
  if (isTouched(passed)) extras['cl'] = true
  return extras
}
