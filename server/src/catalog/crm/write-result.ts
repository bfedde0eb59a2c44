import type { Outcome, Provenance } from '../outcome.ts'

/** A record that was written, or the outcome that the action must return. */
export type WriteResult =
  | { ok: true; record_id: string; account_url: string | null; created: boolean; provenance: Provenance[] }
  | { ok: false; outcome: Outcome<never> }
