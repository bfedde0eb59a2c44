import { CACHED, LEARNS } from '../sql/settle.ts'
import type { Flight, Position, SettledCell, Settlement } from './flight.ts'

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

  constructor(batch: readonly { flight: Flight; settlement: Settlement }[]) {
    let n = 0
    for (const { flight, settlement } of batch) {
      n += 1
      const { cells, next } = settlement
      for (let place = 0; place < cells.length; place += 1) {
        const cell = cells[place]
        if (cell === undefined) continue
        this.flights.push(n)
        this.ends.push(next === null && place === cells.length - 1)
        this.#add(cell, place === 0 ? flight.position : UNTOUCHED)
      }
    }
  }

  #add(cell: SettledCell, passed: Passed): void {
    this.actions.push(cell.action)
    this.statuses.push(cell.status)
    this.startedAt.push(cell.startedAt)
    this.outputs.push(cell.outputs ?? null)
    this.marks.push((cell.cached ? CACHED : 0) + (cell.learns === true ? LEARNS : 0))
    this.billing.push(cell.billing === undefined ? 'null' : JSON.stringify(JSON.stringify(cell.billing)))
    this.credits.push(cell.creditsMillis)
    const extras = extrasOf(cell, passed)
    this.extras.push(extras)
    if (extras !== null) this.hasExtras = true
  }
}

type Passed = Pick<Position, 'retries' | 'state'>
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
