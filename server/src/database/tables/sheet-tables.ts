import type { ColumnType, Generated } from 'kysely'
import type { CellStatus } from '#contract/rows.ts'
import type { SheetLayout } from '#contract/sheet-layout.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import type { DiscoveredOutput } from '../connection/json-columns.ts'
import type { Instant, Json, Made, MaybeInstant } from './column-types.ts'

/** Workflows, their sheets, rows and cells. */
export type SheetTables = {
  workflows: {
    org_id: string
    workflow_id: string
    name: string
    owner_id: string | null
    created_at: Made
    updated_at: ColumnType<Date, Date | undefined, Date>
    last_run_at: MaybeInstant
    deleted_at: MaybeInstant
  }
  workflow_shares: { org_id: string; workflow_id: string; member_id: string; created_at: Made }
  sheets: {
    org_id: string
    sheet_id: string
    workflow_id: string
    name: string
    position: number
    owner_id: string | null
    auto_run: Generated<boolean>
    cache_enabled: Generated<boolean>
    cache_since: string | null
    continue_on_fail: Generated<boolean>
    revision: Generated<number>
    next_column: Generated<number>
    action_serials: Json<Record<string, number>>
    created_at: Made
    deleted_at: MaybeInstant
  }
  sheet_layouts: {
    org_id: string
    sheet_id: string
    member_id: string
    layout: Json<SheetLayout>
    updated_at: Instant
  }
  chain_revisions: {
    org_id: string
    sheet_id: string
    revision: number
    definition: Json<Definition>
    created_by: string
    by_session: Generated<boolean>
    created_at: Made
  }
  sheet_counters: {
    org_id: string
    sheet_id: string
    first_seq: Generated<number>
    next_seq: Generated<number>
    deleted: Generated<number>
  }
  rows: { org_id: string; sheet_id: string; row_id: string; seq: number; data: Json<unknown> }
  row_gaps: { org_id: string; sheet_id: string; block: number; deleted: number }
  row_edits: {
    org_id: string
    sheet_id: string
    member_id: string
    edit_id: string
    part: number
    changes: Json<unknown[]>
    undone: Generated<boolean>
    made_at: Made
  }
  deleted_rows: {
    org_id: string
    sheet_id: string
    row_id: string
    seq: number
    record: string
    cells: string[]
    deleted_at: ColumnType<Date, Date | undefined, Date>
  }
  purges: { org_id: string; sheet_id: string; below_seq: number; created_at: Made }
  cells: {
    org_id: string
    sheet_id: string
    row_id: string
    action: string
    status: CellStatus
    outputs: Json<Record<string, unknown> | null>
    error: string | null
    run_id: string
    revision: number
    attempts: number
    credits_millis: number
    cached: boolean
    provenance: Json<unknown>
    learns: Generated<boolean>
    started_at: Instant
    completed_at: Made
  }
  action_outputs: { org_id: string; sheet_id: string; action: string; outputs: Json<DiscoveredOutput[]> }
}
