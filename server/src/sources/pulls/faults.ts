import type { Provider } from '../../catalog/provider/provider.ts'
import type { Refusal } from '../../catalog/provider/reply.ts'
import { plural } from '../../lib/plural.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { howToConnect } from '../reach.ts'

/** What a refused page means for its source: when it is tried again, or that somebody has to do something first. */
export type Verdict = {
  /** Null: paused until it is resumed. */
  afterMs: number | null
  /** Failures in a row, this one included where it counts. */
  failures: number
  message: string
  hint: string
}

const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS
const FIRST_RETRY_MS = 5 * SECOND_MS
const SLOW_DOWN_MS = 30 * SECOND_MS
/** About six hours of trying with growing pauses. */
const MAX_TRANSIENT = 15
/** Quotas come back by the month; a day of trying is enough to bridge one that comes back by the day. */
const MAX_USED_UP = 24
const MAX_FAULTY = 3

const RESUME = 'then resume the source'
const GOES_ON = 'it is tried again by itself'

export function judgeRefusal(refusal: Refusal, provider: Provider, failuresBefore: number): Verdict {
  const { name } = provider
  const failures = failuresBefore + 1
  const words = refusal.kind === 'miss' ? 'there is nothing of that kind' : refusal.message
  const message = `${name}: ${words}`
  const pause = (hint: string): Verdict => ({ afterMs: null, failures, message, hint })
  switch (refusal.kind) {
    case 'unconfigured':
      return pause(`connect ${name} again (${howToConnect(provider)}), ${RESUME}`)
    case 'miss':
    case 'ineligible':
      return pause('it does not take this request; create the source again with other fields')
    case 'rate_limited':
      return { afterMs: refusal.afterMs ?? waitFor(failures, SLOW_DOWN_MS), failures, message, hint: GOES_ON }
    case 'no_credits':
      return failures > MAX_USED_UP
        ? pause(`the account with ${name} is used up; top it up, ${RESUME}`)
        : { afterMs: HOUR_MS, failures, message, hint: `top up the account with ${name}; ${GOES_ON}` }
    case 'error': {
      const most = refusal.transient ? MAX_TRANSIENT : MAX_FAULTY
      return failures > most
        ? pause(`${name} failed ${plural(failures, 'time')} in a row; see whether it works again, ${RESUME}`)
        : { afterMs: waitFor(failures, FIRST_RETRY_MS), failures, message, hint: GOES_ON }
    }
  }
}

const waitFor = (failures: number, firstMs: number) => backoff(failures - 1, { firstMs, maxMs: HOUR_MS })
