import type { CellStatus, RowStatus } from '#contract/rows.ts'
import type { Definition } from '../chain/definition.ts'
import { timeOfId } from '../lib/ids.ts'
import { parseLossless } from '../lib/json/lossless-json.ts'
import type { CellText } from '../store/sheets/cells.ts'
import type { StoredRow } from '../store/sheets/rows.ts'

/**
 * A row as callers see it (`Row` of the contract) in JSON: values by input name (null where missing), cells of today's chain, the
 * status they make. What the database holds as JSON stays the text that it is.
 */
export function writeRow(row: StoredRow, definition: Definition, stored: Record<string, CellText>): string {
  const data = parseLossless(row.data) as Record<string, unknown>
  const inputs = definition.inputs.map(({ name, column }) =>
    member(name, JSON.stringify(data[column] ?? null)),
  )
  const cells: string[] = []
  const statuses: CellStatus[] = []
  for (const { id } of definition.actions) {
    const cell = stored[id]
    if (cell === undefined) continue
    cells.push(member(id, cell.json))
    statuses.push(cell.status)
  }
  const created = timeOfId(row.row_id).toISOString()
  return `{"row_id":"${row.row_id}","row_status":"${statusOfRow(statuses)}","created_at":"${created}","inputs":{${inputs.join()}},"cells":{${cells.join()}}}`
}

const member = (name: string, json: string): string => `${JSON.stringify(name)}:${json}`

/** D19: what was skipped counts as complete; any failure shows once nothing is under way. */
function statusOfRow(cells: readonly CellStatus[]): RowStatus {
  if (cells.length === 0) return 'pending'
  if (cells.some((status) => status === 'queued' || status === 'running')) return 'running'
  return cells.every((status) => status === 'complete' || status === 'condition_not_met')
    ? 'complete'
    : 'has_failures'
}
