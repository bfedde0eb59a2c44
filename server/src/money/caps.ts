import type { Db } from '../database/connection/db.ts'
import { MILLIS } from './store/credits.ts'
import { createCap, openDailyCap, openLastingCap } from './store/purses/purses.ts'

/**
 * What caps a run, together with all that it sends on (M5): a purse that is there, a new one of its own, or one that it shares
 * with other runs of the day, or of the same subject at any time.
 */
export type Cap =
  | { purseId: string }
  | { limitMillis: number }
  | { subject: string; limitMillis: number; each: 'day' | 'subject' }

/** A cap as callers give it; none where they give none. */
export function capOf(maxCredits: number | null | undefined): { cap?: Cap } {
  return maxCredits === null || maxCredits === undefined ? {} : { cap: { limitMillis: toMillis(maxCredits) } }
}

export const toMillis = (credits: number): number => Math.round(credits * MILLIS)

/** The purse that a run draws on; null when nothing caps it. Call it in the transaction of the run. */
export async function openCap(trx: Db, orgId: string, cap: Cap | undefined): Promise<string | null> {
  if (cap === undefined) return null
  if ('purseId' in cap) return cap.purseId
  if (!('subject' in cap)) return createCap(trx, orgId, cap.limitMillis)
  return cap.each === 'day' ? openDailyCap(trx, orgId, cap) : openLastingCap(trx, orgId, cap)
}
