import type { CellBilling, Flight, SettledCell, Settlement } from './flight.ts'
import { isFailure } from './position.ts'

/**
 * The amounts that a batch adds to the tallies of a run: cells, failed cells, finished rows, thousandths, rows that ran
 * out of credits, rows with a failure, and cells that were skipped.
 */
type Tally = Record<'o' | 'run', string> &
  Record<'d' | 'f' | 'r' | 'c' | 'oc' | 'rf' | 'cs', number> & {
    /** The limit that stopped the first of the rows that ran out of credits. */
    sb: CellBilling['stopped_by'] | null
  }

const FAILURES = new Set<SettledCell['status']>(['failed', 'error', 'out_of_credits'])

/** Adds up the cells of a batch by run. */
export function addUpTallies(batch: readonly { flight: Flight; settlement: Settlement }[]): Tally[] {
  const tallies = new Map<string, Tally>()
  for (const { flight, settlement } of batch) {
    const { org_id: o, run_id: run } = flight.facts
    let tally = tallies.get(run)
    if (tally === undefined)
      tallies.set(run, (tally = { o, run, d: 0, f: 0, r: 0, c: 0, oc: 0, rf: 0, cs: 0, sb: null }))
    tally.d += settlement.cells.length
    if (settlement.next === null) tally.r += 1
    if (!flight.position.hasFailed && settlement.cells.some(({ status }) => isFailure(status))) tally.rf += 1
    for (const { status, creditsMillis, billing } of settlement.cells) {
      tally.c += creditsMillis
      if (status === 'complete') continue
      if (FAILURES.has(status)) tally.f += 1
      if (status === 'out_of_credits') tally.oc += 1
      if (status === 'condition_not_met') tally.cs += 1
      tally.sb ??= billing?.stopped_by ?? null
    }
  }
  return [...tallies.values()]
}
