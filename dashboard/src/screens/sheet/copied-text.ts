import type { z } from 'zod'
import type { Cell as CellSchema } from '#contract/rows.ts'
import { answerText, type ShownOutputs, valueText } from './cell-text.ts'

type Row = { inputs: Readonly<Record<string, unknown>>; cells: Readonly<Record<string, Cell>> }
export type Cell = z.infer<typeof CellSchema>
type Column = { kind: 'input'; name: string } | ({ kind: 'action'; key: string } & ShownOutputs)

/** Returns the whole value of a cell. Outputs that are too large for a page of rows are not copied. */
export function copiedText(row: Row, column: Column): string {
  if (column.kind === 'input') return valueText(row.inputs[column.name])
  const cell = row.cells[column.key]
  if (cell?.status !== 'complete' || cell.outputs_ref !== undefined) return ''
  return answerText(cell, column)
}
