import type { CellStatus, RowStatus } from '#contract/rows.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { timeOfId } from '../../lib/ids.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { RowCells } from '../store/cells.ts'
import type { StoredRow } from '../store/rows.ts'

/**
 * Writes rows as callers see them (`Row` of the contract) in JSON: values by input name (null where missing), cells of today's chain,
 * the status they make. What the database holds as JSON stays the text that it is.
 */
export function createRowWriter({ inputs, actions }: Definition) {
  const named = inputs.map(({ name, column }) => ({ start: `${JSON.stringify(name)}:`, column }))
  const cellsOf = actions.map(({ id }) => ({ start: `${JSON.stringify(id)}:`, id }))
  return ({ row_id, data: text }: StoredRow, stored: RowCells | undefined): string => {
    const data = parseLossless(text) as Record<string, unknown>
    let values = ''
    for (const { start, column } of named)
      values += `${values === '' ? '' : ','}${start}${JSON.stringify(data[column] ?? null)}`
    let cells = ''
    const statuses: CellStatus[] = []
    for (const { start, id } of cellsOf) {
      const cell = stored?.byAction[id]
      if (cell === undefined) continue
      cells += `${cells === '' ? '' : ','}${start}${cell.json}`
      statuses.push(cell.status)
    }
    const created = timeOfId(row_id).toISOString()
    return `{"row_id":"${row_id}","row_status":"${statusOfRow(statuses)}","created_at":"${created}","inputs":{${values}},"cells":{${cells}}${stored?.isStopped === true ? ',"stopped":true' : ''}}`
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
