import type { Db } from '../database/connection/db.ts'
import { MILLIS } from './store/credits.ts'
import { createCap, openDailyCap, openLastingCap } from './store/limits/limits.ts'

/**
 * The cap of a run and of everything that it sends on (M5): an existing limit, a new one for this run, or one that the run
 * shares with other runs of the same day or of the same subject.
 */
export type Cap =
  | { limitId: string }
  | { limitMillis: number }
  | { subject: string; limitMillis: number; each: 'day' | 'subject' }

/** Returns the cap that a caller gives, or none. */
export function toCap(maxCredits: number | null | undefined): { cap?: Cap } {
  return maxCredits === null || maxCredits === undefined ? {} : { cap: { limitMillis: toMillis(maxCredits) } }
}

export const toMillis = (credits: number): number => Math.round(credits * MILLIS)

/** Opens the limit of a cap and returns its id; null without a cap. Call it in the transaction of the run. */
export async function openCap(trx: Db, orgId: string, cap: Cap | undefined): Promise<string | null> {
  if (cap === undefined) return null
  if ('limitId' in cap) return cap.limitId
  if (!('subject' in cap)) return createCap(trx, orgId, cap.limitMillis)
  return cap.each === 'day' ? openDailyCap(trx, orgId, cap) : openLastingCap(trx, orgId, cap)
}
