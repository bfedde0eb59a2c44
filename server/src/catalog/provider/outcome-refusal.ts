import type { Outcome } from '../outcome.ts'
import { type Refusal, refusal } from './reply.ts'

/** Turns the failure of a built-in source into a refusal like those of providers. */
export function refusalOf(outcome: Outcome<never>): Refusal {
  const message = 'message' in outcome ? outcome.message : outcome.kind
  return outcome.kind === 'retry' ? { kind: 'error', message, transient: true } : refusal('error', message)
}
