import { sheetCall } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import type { Row } from '../../api/sheet.ts'
import { copyText } from '../../ui/copy-text.ts'
import { plural } from '../../ui/figure.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { InputColumn } from './columns.ts'
import { copiedText } from './copied-text.ts'
import { addRows, editRows, type RowEdit } from './row-edits.ts'
import type { SheetView } from './sheet-view.ts'
import { parseTsv, printDefused, printTsv } from './tsv.ts'
import { undoLast } from './undo.ts'
import { getSelectedArea } from './view-state.ts'

/** The clipboard type for exact cell values, which only Loam reads. Other programs get the text with defused formulas. */
export const EXACT_CELLS = 'application/x-loam-cells'

/** The maximum number of rows to copy. More rows can be exported. */
const MAX_COPIED_ROWS = 10_000

/** Copies the selected range in spreadsheet format. Rows that are not loaded are read first. */
export function copyArea(view: SheetView, clipboard: DataTransfer | null): void {
  const { from, to } = getSelectedArea(view.state.getState())
  const first = Math.max(0, from.row)
  const last = Math.min(to.row, first + MAX_COPIED_ROWS - 1)
  const columns = view.placed.slice(Math.max(0, from.column - 1), to.column)
  const buildLines = (rows: readonly Row[]) =>
    rows.map((row) => columns.map((column) => copiedText(row, column)))
  const near = Array.from({ length: last - first + 1 }, (_, at) => view.rows.row(first + at))
  const rows = near.filter((row) => row !== undefined)
  if (clipboard !== null && rows.length === near.length) {
    const lines = buildLines(rows)
    clipboard.setData('text/plain', printDefused(lines))
    clipboard.setData(EXACT_CELLS, printTsv(lines))
  } else {
    view.rows
      .range(first, last)
      .then((read) => copyText(printDefused(buildLines(read))))
      .catch(notifyProblem)
  }
  notify(last < to.row ? `Copied the first ${MAX_COPIED_ROWS.toLocaleString('en')} rows` : 'Copied')
}

/**
 * Pastes a table. It fills cells from the focused cell on and adds rows past the end. Without a focused cell, or on an empty
 * sheet, all lines are added as rows. A sheet without inputs gets its inputs from the first line.
 */
export async function pasteText(view: SheetView, text: string, isCellFocused: boolean): Promise<void> {
  const lines = parseTsv(text)
  if (lines.length === 0) return
  const inputs = view.placed.filter((column) => column.kind === 'input')
  const total = view.rows.total ?? 0
  if (inputs.length === 0) return pasteWithNewInputs(view, lines)
  const { from } = getSelectedArea(view.state.getState())
  if (total === 0 || !isCellFocused || from.row < 0) {
    const body = isHeader(lines[0] ?? [], inputs) ? lines.slice(1) : lines
    const named = isHeader(lines[0] ?? [], inputs) ? findColumns(lines[0] ?? [], inputs) : inputs
    await addRows(
      view,
      body.map((line) => buildRow(named, line)),
    )
    return
  }
  const columns = view.placed.slice(Math.max(0, from.column - 1))
  const fillable = columns.map((column) => (column.kind === 'input' ? column : undefined))
  const within = lines.slice(0, Math.max(0, total - from.row))
  const known = within.length === 0 ? [] : await view.rows.range(from.row, from.row + within.length - 1)
  const edits = known.map(({ row_id }, at): RowEdit => ({
    row_id,
    inputs: buildRow(fillable, within[at] ?? []),
  }))
  const filled = edits.filter(({ inputs }) => Object.keys(inputs).length > 0)
  if (filled.length === 0 && within.length > 0) {
    notify('Action outputs cannot be overwritten by pasting')
    return
  }
  if (filled.length > 0 && (await editRows(view, filled)) && lines.length === within.length) {
    notify(`${plural(filled.length, 'row')} filled`, {
      label: 'Undo',
      run: () => undoLast(view),
    })
  }
  const past = lines.slice(within.length).map((line) => buildRow(fillable, line))
  if (past.length > 0) await addRows(view, past)
}

async function pasteWithNewInputs(view: SheetView, [head = [], ...lines]: string[][]): Promise<void> {
  const names = head.map((name, place) => name.trim() || `column ${place + 1}`)
  try {
    await send(
      sheetCall(view.sheet, 'POST /inputs', {
        body: names.map((name) => ({ name, type: 'string' as const })),
      }),
    )
  } catch (error) {
    notifyProblem(error)
    return
  }
  await view.refreshDefinition()
  const rows = lines.map((line) => Object.fromEntries(names.map((name, place) => [name, line[place] ?? ''])))
  if (rows.length > 0) await addRows(view, rows)
}

function buildRow(
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

/** Returns true if every text of the line is the name of an input: the line is then a header, not a row. */
function isHeader(line: readonly string[], inputs: readonly InputColumn[]): boolean {
  return line.length > 0 && line.every((text) => inputs.some(({ name }) => name === text))
}

function findColumns(line: readonly string[], inputs: readonly InputColumn[]): (InputColumn | undefined)[] {
  return line.map((text) => inputs.find(({ name }) => name === text))
}
