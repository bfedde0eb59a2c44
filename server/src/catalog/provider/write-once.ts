import { z } from 'zod'
import { plural } from '../../lib/plural.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { failed, type Outcome, type Provenance, wait } from '../outcome.ts'
import type { CellContext } from './context.ts'
import type { ProviderCallResult } from './single-provider.ts'

type Failure = { ok: false; outcome: Outcome<never> }

/** One try of a write that would take effect twice if it were sent twice. */
export type WriteAttempt = {
  /** The time since when an earlier try may have created the record, or null if there was no such try. */
  openSince: Date | null
  /** Makes the creating call. If it gets no answer, it stays open whether the record was created. */
  create<Body>(call: Promise<ProviderCallResult<Body>>): Promise<ProviderCallResult<Body>>
  /** Adds to the provenance of a search why it was made and what it found. */
  describeLook(provenance: readonly Provenance[], found: boolean): Provenance[]
}

const State = z.object({ open: z.object({ since: z.number(), tries: z.number() }) })
type Open = z.infer<typeof State>['open']

const MAX_TRIES = 4
/** A record that was just written cannot be found at once everywhere. */
const MIN_PAUSE_MS = 5000
/** The tolerance for differing clocks, because the other side's clock dates the record. */
const CLOCK_MS = 60_000
/** The time to search back if a try was interrupted and left no time. */
const LOOK_BACK_MS = 24 * 60 * 60_000

/** The message for records without a value that can be searched for. */
export const CANNOT_LOOK =
  'an earlier attempt got no answer, and no value identifies the record to check whether it was created'

/**
 * Writes exactly once as far as the other side allows. If a creation gets no answer, or its worker died, the next try
 * searches for the record before it creates one.
 */
export async function writeOnce<Done extends { ok: true }>(
  context: CellContext,
  write: (attempt: WriteAttempt) => Promise<Done | Failure>,
): Promise<Done | Failure> {
  const started = context.now().getTime()
  const earlier = readOpen(context, started)
  let isOpen = false
  const result = await write({
    openSince: earlier === null ? null : new Date(earlier.since - CLOCK_MS),
    async create(call) {
      const answer = await call
      isOpen = !answer.ok && answer.refusal?.kind === 'error' && answer.refusal.transient
      return answer
    },
    describeLook,
  })
  if (result.ok || (earlier === null && !isOpen)) return result
  const open = earlier ?? { since: started, tries: 0 }
  return { ok: false, outcome: keepOpen(result.outcome, open, isOpen) }
}

function readOpen({ state, wasCutOff }: CellContext, now: number): Open | null {
  const kept = State.safeParse(state)
  if (kept.success) return kept.data.open
  return wasCutOff ? { since: now - LOOK_BACK_MS, tries: 0 } : null
}

/** Hands an open creation on to the next try, whatever this one ended with. */
function keepOpen(outcome: Outcome<never>, open: Open, isOpen: boolean): Outcome<never> {
  if (outcome.kind === 'wait') {
    return wait(outcome.ms, { ...(outcome.state as object | undefined), open })
  }
  const message = 'message' in outcome ? outcome.message : ''
  if (outcome.kind !== 'retry' && !isOpen) return outcome
  const tries = open.tries + 1
  if (tries >= MAX_TRIES) {
    const end = isOpen ? '; whether it was created is not known' : ''
    return failed(`${message} (after ${plural(tries, 'attempt')})${end}`)
  }
  const pause = outcome.kind === 'retry' ? outcome.afterMs : undefined
  return wait(pause ?? Math.max(MIN_PAUSE_MS, backoff(tries)), { open: { ...open, tries } })
}

function describeLook(provenance: readonly Provenance[], found: boolean): Provenance[] {
  const seen = found
    ? 'the record exists and was not created again'
    : 'the record does not exist, so it is created'
  const message = `an earlier try was not answered, so it was looked for first: ${seen}`
  return provenance.map((entry) => ({ ...entry, status: found ? 'hit' : 'miss', message }))
}
