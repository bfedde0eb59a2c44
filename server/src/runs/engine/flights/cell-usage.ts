import { MILLIS } from '../../../money/store/credits.ts'
import type { Flight, RunFacts, SettledCell, Settlement } from './flight.ts'

/** A sum: what it is of, by the names of `sql/usage.ts`, and its numbers. */
type Counted = Record<'o' | 'w' | 's' | 'tr', string> &
  Record<'a' | 'p' | 'm' | 'key', string | null> &
  Record<'n' | 'b' | 'c' | 'sc' | 'so', number>

/**
 * Adds up the cells of a batch by what usage is asked by: the run's workflow, sheet, member, key and trigger; action;
 * provider.
 */
export function addUpUsage(batch: readonly { flight: Flight; settlement: Settlement }[]): Counted[] {
  const sums = new Map<string, Counted>()
  // Sums of each run, by action and answering provider.
  const byRun = new Map<RunFacts, Map<string | undefined, Map<string | undefined, Counted>>>()
  for (const { flight, settlement } of batch) {
    const { facts } = flight
    let known = byRun.get(facts)
    if (known === undefined) byRun.set(facts, (known = new Map()))
    for (const cell of settlement.cells) {
      const { template } = cell
      const provider = answeredBy(cell)
      let byProvider = known.get(template)
      if (byProvider === undefined) known.set(template, (byProvider = new Map()))
      let sum = byProvider.get(provider)
      if (sum === undefined)
        byProvider.set(provider, (sum = sumOf(sums, facts, template ?? null, provider ?? null)))
      sum.n += 1
      if (cell.creditsMillis > 0) sum.b += 1
      if (cell.cached) sum.c += 1
      sum.sc += cell.billing?.cached?.millis ?? 0
      sum.so += savedByOwnKeys(cell)
    }
  }
  return [...sums.values()]
}

/**
 * Returns the sum for a kind of cells. Runs are not told apart: two runs of the same kind must not count in the same
 * record twice.
 */
function sumOf(sums: Map<string, Counted>, facts: RunFacts, a: string | null, p: string | null): Counted {
  const { org_id: o, workflow_id: w, sheet_id: s, member: m, key_id: key, trigger: tr } = facts
  const id = `${o} ${w} ${s} ${m} ${key} ${tr} ${a} ${p}`
  let sum = sums.get(id)
  if (sum === undefined) sums.set(id, (sum = { o, w, s, a, p, m, key, tr, n: 0, b: 0, c: 0, sc: 0, so: 0 }))
  return sum
}

/** Statuses of a provider, or model, whose answer is the result. */
const ANSWERS = new Set(['hit', 'answer'])

/** Returns the provider that gave the result of a cell, if one did. */
function answeredBy({ status, provider, provenance }: SettledCell): string | undefined {
  if (status !== 'complete') return undefined
  return provider ?? provenance?.findLast((entry) => ANSWERS.has(entry.status))?.provider
}

function savedByOwnKeys({ status, provenance }: SettledCell): number {
  if (status !== 'complete' || provenance === undefined) return 0
  let millis = 0
  for (const { list_credits: listed } of provenance)
    if (listed !== undefined) millis += Math.round(listed * MILLIS)
  return millis
}
