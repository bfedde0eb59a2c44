import type { Cap } from '../money/caps.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import type { RowChoice } from './row-choice.ts'

/** What started a run. Those of the API count as the workflow's last run (D45). */
export type Trigger =
  | 'api'
  | 'shortcut'
  | 'auto_run'
  | 'schedule'
  | 'webhook'
  | 'source'
  | 'segment'
  | 'send_to_sheet'

/** Triggers that count as the workflow's last run (D45). */
export const BY_API: ReadonlySet<Trigger> = new Set(['api', 'shortcut'])

export type RunRequest = {
  sheet: SheetRecord
  /** The actions to run, in order; not empty. */
  actions: string[]
  rows: RowChoice
  trigger: Trigger
  /** How often rows were sent on from sheet to sheet until this run. */
  hops?: number
  /** What it may cost. */
  cap?: Cap
  /** Who spends, where that is not whoever starts it: rows that are sent on. */
  member?: string | null
}
