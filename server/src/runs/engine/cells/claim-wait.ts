import { z } from 'zod'

/** What a flight keeps while it waits for the row that computes its cell, in the place of an action's own state. */
const ClaimWait = z.strictObject({ $waits_for: z.string() })

export function createClaimWait(row: string): z.infer<typeof ClaimWait> {
  return { $waits_for: row }
}

/** The row that is waited for; null when the state is something else. */
export function readClaimWait(state: unknown): string | null {
  if (state === null || typeof state !== 'object' || !('$waits_for' in state)) return null
  const read = ClaimWait.safeParse(state)
  return read.success ? read.data.$waits_for : null
}

/** What the action itself handed over. */
export function stateOfAction(state: unknown): unknown {
  return readClaimWait(state) === null ? (state ?? undefined) : undefined
}
