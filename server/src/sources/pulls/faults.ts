import type { Provider } from '../../catalog/provider/provider.ts'
import type { Refusal } from '../../catalog/provider/reply.ts'
import { plural } from '../../lib/plural.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { howToConnect } from '../reach.ts'

/** The consequence of a refused page: when to retry it, or what a user has to do first. */
export type Verdict = {
  /** The delay before the retry, or null if the source is paused until a user resumes it. */
  afterMs: number | null
  /** The number of consecutive failures, including this one if it counts. */
  failures: number
  message: string
  hint: string
}

const SECOND_MS = 1000
const HOUR_MS = 3600 * SECOND_MS
const FIRST_RETRY_MS = 5 * SECOND_MS
const SLOW_DOWN_MS = 30 * SECOND_MS
/** 15 retries with growing delays take about six hours. */
const MAX_TRANSIENT = 15
/** 24 hourly retries last a day, which is enough for a daily quota. Monthly quotas need a user. */
const MAX_USED_UP = 24
const MAX_FAULTY = 3

const RESUME = 'then resume the source'
const RETRIED = 'it is retried automatically'

export function judgeRefusal(refusal: Refusal, provider: Provider, failuresBefore: number): Verdict {
  const { name } = provider
  const failures = failuresBefore + 1
  const words = refusal.kind === 'miss' ? 'not found' : refusal.message
  const message = `${name}: ${words}`
  const pause = (hint: string): Verdict => ({ afterMs: null, failures, message, hint })
  switch (refusal.kind) {
    case 'unconfigured':
      return pause(`connect ${name} again (${howToConnect(provider)}), ${RESUME}`)
    case 'miss':
    case 'ineligible':
      return pause(`${name} does not accept this request; create the source again with other fields`)
    case 'rate_limited':
      return { afterMs: refusal.afterMs ?? waitFor(failures, SLOW_DOWN_MS), failures, message, hint: RETRIED }
    case 'no_credits':
      return failures > MAX_USED_UP
        ? pause(`the account with ${name} has no credits left; top it up, ${RESUME}`)
        : { afterMs: HOUR_MS, failures, message, hint: `top up the account with ${name}; ${RETRIED}` }
    case 'error': {
      const most = refusal.transient ? MAX_TRANSIENT : MAX_FAULTY
      return failures > most
        ? pause(`${name} failed ${plural(failures, 'time')} in a row; check that it works again, ${RESUME}`)
        : { afterMs: waitFor(failures, FIRST_RETRY_MS), failures, message, hint: RETRIED }
    }
  }
}

const waitFor = (failures: number, firstMs: number) => backoff(failures - 1, { firstMs, maxMs: HOUR_MS })
