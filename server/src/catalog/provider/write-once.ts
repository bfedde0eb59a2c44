import { z } from 'zod'
import { plural } from '../../lib/plural.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { failed, type Outcome, type Provenance, wait } from '../outcome.ts'
import type { CellContext } from './context.ts'
import type { ProviderCallResult } from './single-provider.ts'

type Failure = { ok: false; outcome: Outcome<never> }

/** One try at a write that the other side would do twice when it is asked twice. */
export type WriteAttempt = {
  /** Since when an earlier try may have created what is to be created; null where there was none. */
  openSince: Date | null
  /** Makes the call that creates. One that is not answered leaves open whether it did. */
  create<Body>(call: Promise<ProviderCallResult<Body>>): Promise<ProviderCallResult<Body>>
  /** Says in the provenance of a look why it was taken and what was seen. */
  describeLook(provenance: readonly Provenance[], found: boolean): Provenance[]
}

const State = z.object({ open: z.object({ since: z.number(), tries: z.number() }) })
type Open = z.infer<typeof State>['open']

const MAX_TRIES = 4
/** What was written a moment ago is not found at once everywhere. */
const MIN_PAUSE_MS = 5000
/** Clocks differ, and theirs tells when a record was created. */
const CLOCK_MS = 60_000
/** How far back to look where a try was cut off and left no time. */
const LOOK_BACK_MS = 24 * 60 * 60_000

/** For records of which nothing can be searched for. */
export const CANNOT_LOOK =
  'an earlier try was not answered, and by none of its values can it be found out whether it was created'

/**
 * Writes exactly once as far as the other side allows: when a creation is not answered, or its worker died, the next try
 * looks for what it may have created before it creates again.
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

/** What is not known is handed on to the next try, whatever this one ended with. */
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
  const seen = found ? 'it is there, and was not created again' : 'it is not there, so it is created'
  const message = `an earlier try was not answered, so it was looked for first: ${seen}`
  return provenance.map((entry) => ({ ...entry, status: found ? 'hit' : 'miss', message }))
}
