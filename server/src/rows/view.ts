import type { z } from 'zod'
import type { Cell, CellStatus, Row, RowStatus } from '#contract/rows.ts'
import type { Definition } from '../chain/definition.ts'
import { timeOfId } from '../lib/ids.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import type { StoredRow } from '../store/sheets/rows.ts'

export type RowView = z.infer<typeof Row>

/** A row as callers see it: values by input name (null where missing), cells of today's chain, the status they make. */
export function viewRow(row: StoredRow, definition: Definition, stored: Record<string, Cell>): RowView {
  const chain = definition.actions.map((action) => action.id)
  const cells = Object.fromEntries(
    chain.flatMap((id) => (stored[id] === undefined ? [] : [[id, stored[id]]])),
  )
  const data = parseLossless(row.data) as Record<string, unknown>
  return {
    row_id: row.row_id,
    row_status: statusOfRow(Object.values(cells).map((cell) => cell.status)),
    created_at: timeOfId(row.row_id).toISOString(),
    inputs: Object.fromEntries(definition.inputs.map((input) => [input.name, data[input.column] ?? null])),
    cells,
  }
}

/** D19: what was skipped counts as complete; any failure shows once nothing is under way. */
function statusOfRow(cells: readonly CellStatus[]): RowStatus {
  if (cells.length === 0) return 'pending'
  if (cells.some((status) => status === 'queued' || status === 'running')) return 'running'
  return cells.every((status) => status === 'complete' || status === 'condition_not_met')
    ? 'complete'
    : 'has_failures'
}
