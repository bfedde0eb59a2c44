import { CACHED, LEARNS } from '../sql/settle.ts'
import type { Position, RunFacts, SettledCell, Settlement } from './flight.ts'

/** The cells of a batch by column, gone through once: there are very many. */
export class CellColumns {
  /** Places of their flights in the batch, from 1. */
  readonly flights: number[] = []
  readonly actions: string[] = []
  readonly statuses: string[] = []
  readonly startedAt: number[] = []
  readonly ends: boolean[] = []
  readonly outputs: unknown[] = []
  readonly marks: number[] = []
  /** What cells keep of their costs, as JSON in an array; most keep nothing. */
  readonly billing: string[] = []
  readonly credits: number[] = []
  readonly extras: (object | null)[] = []
  hasExtras = false
  /** All have the same status, marks and billing, as most batches have: each is sent once. */
  isUniform = true
  readonly #learned = new Map<string, number>()

  constructor(batch: readonly { flight: PassedFlight; settlement: Settlement }[]) {
    let n = 0
    for (const { flight, settlement } of batch) {
      n += 1
      const { cells, next } = settlement
      for (let place = 0; place < cells.length; place += 1) {
        const cell = cells[place]
        if (cell === undefined) continue
        this.flights.push(n)
        this.ends.push(next === null && place === cells.length - 1)
        this.#add(flight.facts, cell, place === 0 ? flight.position : UNTOUCHED)
      }
    }
  }

  #add(facts: PassedFlight['facts'], cell: SettledCell, passed: Passed): void {
    const marks = (cell.cached ? CACHED : 0) + (this.#isLearnedFrom(facts, cell) ? LEARNS : 0)
    const billing = cell.billing === undefined ? 'null' : JSON.stringify(JSON.stringify(cell.billing))
    this.isUniform &&=
      this.statuses.length === 0 ||
      (cell.status === this.statuses[0] && marks === this.marks[0] && billing === this.billing[0])
    this.actions.push(cell.action)
    this.statuses.push(cell.status)
    this.startedAt.push(cell.startedAt)
    this.outputs.push(cell.outputs ?? null)
    this.marks.push(marks)
    this.billing.push(billing)
    this.credits.push(cell.creditsMillis)
    const extras = extrasOf(cell, passed)
    this.extras.push(extras)
    if (extras !== null) this.hasExtras = true
  }

  /** Cells of a batch are completed at one moment: a few of them show what their action gives, and each is one more in an index. */
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

type Passed = Pick<Position, 'retries' | 'state'>
type PassedFlight = { facts: Pick<RunFacts, 'sheet_id'>; position: Passed }
const UNTOUCHED: Passed = { retries: 0, state: null }

/** What a cell that completed at the first attempt has nothing of. */
function extrasOf(cell: SettledCell, { retries, state }: Passed): object | null {
  const { cache, error, provenance } = cell
  const isPlain = cache === undefined && error === undefined && provenance === undefined
  if (isPlain && retries === 0 && state === null) return null
  const extras: Record<string, unknown> = {}
  if (error !== undefined) extras['err'] = error
  if (provenance !== undefined) extras['pv'] = provenance
  if (retries > 0) extras['tries'] = retries + 1
  if (cache !== undefined) Object.assign(extras, { ck: cache.key, ep: cache.epoch })
  if (cache?.keep === true) extras['kp'] = true
  if (retries > 0 || state !== null) extras['cl'] = true
  return extras
}
