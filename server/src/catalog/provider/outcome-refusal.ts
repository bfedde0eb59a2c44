import type { Outcome } from '../outcome.ts'
import { type Refusal, refusal } from './reply.ts'

/** What a built-in way could not do, in the words of providers. */
export function refusalOf(outcome: Outcome<never>): Refusal {
  const message = 'message' in outcome ? outcome.message : outcome.kind
  return outcome.kind === 'retry' ? { kind: 'error', message, transient: true } : refusal('error', message)
}
