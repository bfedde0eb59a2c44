import type { Generated } from 'kysely'
import type { z } from 'zod'
import type { ExportFormat } from '#contract/exports.ts'
import type { RunAfter } from '#contract/rows.ts'
import type { InputType } from '../../catalog/chain/definition.ts'
import type { ExportPlan, ExportSelection, Mismatches, ValuePlaces } from '../connection/json-columns.ts'
import type { Instant, Json, Made, MaybeInstant } from './column-types.ts'

/**
 * A column of a file and the column of the sheet that it fills. Imports queued before migration 0025 have no name and
 * type of the input.
 */
export type MappedColumn = {
  header: string
  column: number
  name?: string
  type?: InputType
  choices?: readonly string[]
}

/** Files, imports and exports. */
export type FileTables = {
  files: {
    org_id: string
    file_ref: string
    kind: string
    name: string
    size_bytes: number | null
    created_by: string
    created_at: Made
    used_at: MaybeInstant
    expires_at: Instant
  }
  imports: {
    org_id: string
    import_id: string
    sheet_id: string
    file_ref: string
    sheet_name: string | null
    mapping: Json<MappedColumn[]>
    run_after: z.infer<typeof RunAfter>
    status: Generated<'processing' | 'completed' | 'failed'>
    rows_imported: Generated<number>
    chunks: Generated<number>
    position: Json<unknown>
    starts: Generated<number>
    mismatches: Json<Mismatches[]>
    normalized: Json<ValuePlaces[]>
    error: string | null
    created_by: string
    key_id: string | null
    cap_purse_id: string | null
    created_at: Made
    finished_at: MaybeInstant
  }
  exports: {
    org_id: string
    export_id: string
    sheet_id: string
    member_id: string
    format: ExportFormat
    file_name: string
    selection: Json<ExportSelection>
    plan: Json<ExportPlan>
    below_seq: number
    status: Generated<'running' | 'completed' | 'failed'>
    attempt: Generated<number>
    progress: Generated<number>
    row_count: Generated<number>
    size_bytes: number | null
    error: string | null
    started_at: Made
    completed_at: MaybeInstant
  }
}
