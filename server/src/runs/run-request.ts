import type { Cap } from '../money/caps.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import type { RunChoice } from './row-choice.ts'

/** The cause of a run. */
export type Trigger =
  | 'api'
  | 'shortcut'
  | 'auto_run'
  | 'schedule'
  | 'webhook'
  | 'source'
  | 'segment'
  | 'send_to_sheet'

/** The triggers that count as the workflow's last run (D45). */
export const BY_API: ReadonlySet<Trigger> = new Set(['api', 'shortcut'])

export type RunRequest = {
  sheet: SheetRecord
  /** The actions to run, in order. Never empty. */
  actions: string[]
  rows: RunChoice
  trigger: Trigger
  /** The number of times that the rows were sent on from sheet to sheet until this run. */
  hops?: number
  /** The limit of what the run may cost. */
  cap?: Cap
  /** The member whose budget pays, if that is not the starter: set for rows that are sent on. */
  member?: string | null
}
