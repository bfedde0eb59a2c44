import type { CellStatus, RowStatus } from '#contract/rows.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { timeOfId } from '../../lib/ids.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { RowCells } from '../store/cells.ts'
import type { StoredRow } from '../store/row-values.ts'
import { printVariable } from './comment-text.ts'

/**
 * Creates a function that writes rows as JSON for callers (`Row` of the contract): values by input name (null if missing),
 * cells of the current chain, and the status of the row. JSON that the database holds is copied as text.
 */
export function createRowWriter({ inputs, actions }: Definition) {
  const named = inputs.map(({ name, column }) => ({ start: `${JSON.stringify(name)}:`, column }))
  const actionFields = actions.map(({ id }) => ({ start: `${JSON.stringify(id)}:`, id }))
  return ({ row_id, data: text }: StoredRow, stored: RowCells | undefined): string => {
    const data = parseLossless(text) as Record<string, unknown>
    let values = ''
    for (const { start, column } of named)
      values += `${values === '' ? '' : ','}${start}${JSON.stringify(data[column] ?? null)}`
    let cells = ''
    const statuses: CellStatus[] = []
    for (const { start, id } of actionFields) {
      const cell = stored?.byAction[id]
      if (cell === undefined) continue
      cells += `${cells === '' ? '' : ','}${start}${cell.json}`
      statuses.push(cell.status)
    }
    const created = timeOfId(row_id).toISOString()
    return `{"row_id":"${row_id}","row_status":"${computeRowStatus(statuses)}","created_at":"${created}","inputs":{${values}},"cells":{${cells}}${stored?.isStopped === true ? ',"stopped":true' : ''}${writeComments(stored?.comments ?? null, inputs)}}`
  }
}

/** Writes the number of open comments as a field, if there are any. Comments on an input are named by its current token. */
function writeComments(comments: RowCells['comments'], inputs: Definition['inputs']): string {
  if (comments === null) return ''
  const { '': row = 0, ...others } = comments
  let total = row
  const cells: Record<string, number> = {}
  for (const [place, count] of Object.entries(others)) {
    total += count
    const name = printPlace(place, inputs)
    if (name !== null) cells[name] = count
  }
  return `,"open_comments":${JSON.stringify({ total, row, cells })}`
}

function printPlace(place: string, inputs: Definition['inputs']): string | null {
  const [, column, variable = ''] = /^#(\d+)(.*)$/s.exec(place) ?? []
  return column === undefined ? place : printVariable({ input_column: Number(column), variable }, { inputs })
}

/** Computes the status of a row. A skipped cell counts as complete; a failure shows once no cell is in flight (D19). */
function computeRowStatus(cells: readonly CellStatus[]): RowStatus {
  if (cells.length === 0) return 'pending'
  if (cells.some((status) => status === 'queued' || status === 'running')) return 'running'
  return cells.every((status) => status === 'complete' || status === 'condition_not_met')
    ? 'complete'
    : 'has_failures'
}
