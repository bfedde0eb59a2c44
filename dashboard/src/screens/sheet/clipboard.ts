import { post } from '../../api/client.ts'
import type { Row } from '../../api/sheet.ts'
import { copyText } from '../../ui/copy-text.ts'
import { plural } from '../../ui/figure.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import { cellText, valueText } from './cell-text.ts'
import type { Column, InputColumn } from './columns.ts'
import { addRows, editRows, type RowEdit } from './row-edits.ts'
import type { SheetView } from './sheet-view.ts'
import { parseTsv, printDefused, printTsv } from './tsv.ts'
import { areaOf } from './view-state.ts'

/** Cells as they are, which only this program reads: other programs get them without formulas. */
export const EXACT_CELLS = 'application/x-loam-cells'

/** More is an export. */
const MAX_COPIED_ROWS = 10_000

export function textOfCell(row: Row, column: Column): string {
  if (column.kind === 'input') return valueText(row.inputs[column.name])
  const { state, text } = cellText(row.cells[column.key], column.outputs)
  return state === 'complete' && text !== 'no answer' ? text : ''
}

/** The range as a spreadsheet takes it. At once where all of it is near the view; else its rows are read first. */
export function copyArea(view: SheetView, clipboard: DataTransfer | null): void {
  const { from, to } = areaOf(view.state.getState())
  const first = Math.max(0, from.row)
  const last = Math.min(to.row, first + MAX_COPIED_ROWS - 1)
  const columns = view.placed.slice(Math.max(0, from.column - 1), to.column)
  const linesOf = (rows: readonly Row[]) =>
    rows.map((row) => columns.map((column) => textOfCell(row, column)))
  const near = Array.from({ length: last - first + 1 }, (_, at) => view.rows.row(first + at))
  const rows = near.filter((row) => row !== undefined)
  if (clipboard !== null && rows.length === near.length) {
    const lines = linesOf(rows)
    clipboard.setData('text/plain', printDefused(lines))
    clipboard.setData(EXACT_CELLS, printTsv(lines))
  } else {
    view.rows
      .range(first, last)
      .then((read) => copyText(printDefused(linesOf(read))))
      .catch(notifyProblem)
  }
  notify(last < to.row ? `The first ${MAX_COPIED_ROWS.toLocaleString('en')} rows are copied` : 'Copied')
}

/**
 * Fills from the focused cell on and adds rows past the end; without a focused cell, or on an empty sheet, all of it is added. A
 * sheet without inputs gets them from the first line.
 */
export async function pasteText(view: SheetView, text: string, isCellFocused: boolean): Promise<void> {
  const lines = parseTsv(text)
  if (lines.length === 0) return
  const inputs = view.placed.filter((column) => column.kind === 'input')
  const total = view.rows.total ?? 0
  if (inputs.length === 0) return pasteWithNewInputs(view, lines)
  const { from } = areaOf(view.state.getState())
  if (total === 0 || !isCellFocused || from.row < 0) {
    const body = isHead(lines[0] ?? [], inputs) ? lines.slice(1) : lines
    const named = isHead(lines[0] ?? [], inputs) ? headColumns(lines[0] ?? [], inputs) : inputs
    await addRows(
      view,
      body.map((line) => rowOf(named, line)),
    )
    return
  }
  const columns = view.placed.slice(Math.max(0, from.column - 1))
  const fillable = columns.map((column) => (column.kind === 'input' ? column : undefined))
  const within = lines.slice(0, Math.max(0, total - from.row))
  const known = within.length === 0 ? [] : await view.rows.range(from.row, from.row + within.length - 1)
  const edits = known.map(({ row_id }, at): RowEdit => ({
    row_id,
    inputs: rowOf(fillable, within[at] ?? []),
  }))
  const filled = edits.filter(({ inputs }) => Object.keys(inputs).length > 0)
  if (filled.length === 0 && within.length > 0) {
    notify('Outputs of actions cannot be pasted over')
    return
  }
  if (filled.length > 0 && (await editRows(view, filled)) && lines.length === within.length) {
    notify(`${plural(filled.length, 'row')} filled`, {
      label: 'Undo',
      run: () => void view.history.getState().undo(),
    })
  }
  const past = lines.slice(within.length).map((line) => rowOf(fillable, line))
  if (past.length > 0) await addRows(view, past)
}

async function pasteWithNewInputs(view: SheetView, [head = [], ...lines]: string[][]): Promise<void> {
  const names = head.map((name, place) => name.trim() || `column ${place + 1}`)
  try {
    await post(
      `${view.path}/inputs`,
      names.map((name) => ({ name, type: 'string' })),
    )
  } catch (error) {
    notifyProblem(error)
    return
  }
  await view.refreshDefinition()
  const rows = lines.map((line) => Object.fromEntries(names.map((name, place) => [name, line[place] ?? ''])))
  if (rows.length > 0) await addRows(view, rows)
}

function rowOf(
  columns: readonly (InputColumn | undefined)[],
  line: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    line.flatMap((text, place) => {
      const column = columns[place]
      return column === undefined ? [] : [[column.name, text]]
    }),
  )
}

/** A first line that names inputs says which; it is no row. */
function isHead(line: readonly string[], inputs: readonly InputColumn[]): boolean {
  return line.length > 0 && line.every((text) => inputs.some(({ name }) => name === text))
}

function headColumns(line: readonly string[], inputs: readonly InputColumn[]): (InputColumn | undefined)[] {
  return line.map((text) => inputs.find(({ name }) => name === text))
}
