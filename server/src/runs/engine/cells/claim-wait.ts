import { z } from 'zod'

/** The state of a flight that waits for the row which computes its cell, in place of the action's own state. */
const ClaimWait = z.strictObject({ $waits_for: z.string() })

export function createClaimWait(row: string): z.infer<typeof ClaimWait> {
  return { $waits_for: row }
}

/** Returns the row that is waited for, or null if the state is something else. */
export function readClaimWait(state: unknown): string | null {
  if (state === null || typeof state !== 'object' || !('$waits_for' in state)) return null
  const read = ClaimWait.safeParse(state)
  return read.success ? read.data.$waits_for : null
}

/** Returns the state that the action itself handed over. */
export function stateOfAction(state: unknown): unknown {
  return readClaimWait(state) === null ? (state ?? undefined) : undefined
}
