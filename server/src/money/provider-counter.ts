import type { Provenance } from '../catalog/outcome.ts'
import type { Store } from '../database/connection/db.ts'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { MILLIS } from './store/credits.ts'
import { addProviderTallies, type ProviderTally, TIME_PLACES } from './store/provider-tallies.ts'

/** The interval at which the sums are written, however many cells settle. */
const GATHER_MS = 2000

/** Statuses in the provenance of a waterfall: of providers that found something, and of all that were asked. */
const FOUND = new Set(['hit', 'unverified'])
const ASKED = new Set([...FOUND, 'invalid', 'miss', 'error', 'rate_limited', 'no_credits'])

/** A settled cell. `actionId` is missing where providers were neither asked in order nor paid. */
type CountedCell = {
  actionId?: string | undefined
  provenance?: readonly Provenance[] | undefined
  startedAt: number
}

export type ProviderCounter = {
  /** Counts what providers did for settled cells. */
  count(org: string, cells: readonly CountedCell[]): void
  /** Writes the sums, before the database is closed. */
  flush(): Promise<void>
}

/**
 * Creates a counter that adds up in this process, so that no settlement waits for it. What a dying process has not
 * written is not counted.
 */
export function createProviderCounter(store: Store, log: Log): ProviderCounter {
  let tallies = new Map<string, ProviderTally>()
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const counted = [...tallies.values()]
    tallies = new Map()
    if (counted.length === 0) return
    await addProviderTallies(store, counted).catch((cause: unknown) =>
      log.warn({ cause: reasonOf(cause) }, 'what providers did could not be counted'),
    )
  }
  const writeNext = () => (writing = writing.then(write))

  return {
    count(org, cells) {
      for (const { actionId, provenance, startedAt } of cells) {
        if (actionId === undefined || provenance === undefined) continue
        const day = new Date(startedAt).toISOString().slice(0, 10)
        for (const entry of provenance) {
          if (!ASKED.has(entry.status)) continue
          add(tallyOf(tallies, { org, day, action: actionId, provider: entry.provider }), entry)
        }
      }
      if (tallies.size > 0) timer ??= setTimeout(() => void writeNext(), GATHER_MS).unref()
    },
    flush: writeNext,
  }
}

function tallyOf(
  tallies: Map<string, ProviderTally>,
  of: Pick<ProviderTally, 'org' | 'day' | 'action' | 'provider'>,
): ProviderTally {
  const { org, day, action, provider } = of
  const key = `${org} ${day} ${action} ${provider}`
  const known = tallies.get(key)
  if (known !== undefined) return known
  const times = Array.from({ length: TIME_PLACES }, () => 0)
  const fresh = { ...of, asked: 0, found: 0, verified: 0, creditsMillis: 0, times }
  tallies.set(key, fresh)
  return fresh
}

function add(tally: ProviderTally, { status, ms, credits }: Provenance): void {
  tally.asked += 1
  if (FOUND.has(status)) tally.found += 1
  if (status === 'hit') tally.verified += 1
  tally.creditsMillis += Math.round(credits * MILLIS)
  const place = Math.min(TIME_PLACES - 1, Math.max(0, Math.ceil(Math.log2(ms + 1)) - 1))
  tally.times[place] = (tally.times[place] ?? 0) + 1
}
