import type { KeyboardEvent } from 'react'
import { notifyProblem } from '../../../ui/toasts.tsx'
import { valueText } from '../cell-text.ts'
import { editRows, MAX_EDITED_ROWS, type RowEdit } from '../row-edits.ts'
import type { SheetView } from '../sheet-view.ts'
import { getSelectedArea, type Place } from '../view-state.ts'

type Extent = { pageRows: number }

/** Handles the keys of a spreadsheet. Keys typed into an editor or a control inside a cell are ignored. */
export function handleKey(view: SheetView, event: KeyboardEvent<HTMLElement>, extent: Extent): void {
  const target = event.target
  if (!(target instanceof HTMLElement) || target.closest('[role=menu], [role=dialog]') !== null) return
  const isInControl = target.closest('button, input') !== null
  if (isInControl && event.key !== 'Escape' && !event.key.startsWith('Arrow')) return
  const place = move(view, event, extent)
  if (place !== null) {
    event.preventDefault()
    view.state.getState().goTo(place, event.shiftKey && place.row >= 0)
    return
  }
  if (act(view, event)) event.preventDefault()
}

/** Returns the cell that a navigation key leads to, or null for other keys. */
function move(view: SheetView, event: KeyboardEvent, { pageRows }: Extent): Place | null {
  const { active } = view.state.getState()
  const last = (view.rows.total ?? 0) - 1
  const lastColumn = view.placed.length
  const isFar = event.ctrlKey || event.metaKey
  const at = (row: number, column: number): Place => ({
    row: Math.min(last, Math.max(-1, row)),
    column: Math.min(lastColumn, Math.max(0, column)),
  })
  switch (event.key) {
    case 'ArrowUp':
      return isFar ? at(0, active.column) : at(active.row - 1, active.column)
    case 'ArrowDown':
      return isFar ? at(last, active.column) : at(active.row + 1, active.column)
    case 'ArrowLeft':
      return isFar ? at(active.row, 1) : at(active.row, active.column - 1)
    case 'ArrowRight':
      return isFar ? at(active.row, lastColumn) : at(active.row, active.column + 1)
    case 'PageUp':
      return at(Math.max(0, active.row - pageRows), active.column)
    case 'PageDown':
      return at(active.row + pageRows, active.column)
    case 'Home':
      return isFar ? at(0, 1) : at(active.row, 1)
    case 'End':
      return isFar ? at(last, lastColumn) : at(active.row, lastColumn)
    default:
      return null
  }
}

function act(view: SheetView, event: KeyboardEvent<HTMLElement>): boolean {
  const { active, edit, toggleRow, selectAll } = view.state.getState()
  const column = view.placed[active.column - 1]
  const row = view.rows.row(active.row)
  const isCommand = event.ctrlKey || event.metaKey
  if (isCommand) {
    switch (event.key.toLowerCase()) {
      case 'a':
        selectAll(true)
        return true
      case 'd':
        void fillDown(view)
        return true
      default:
        return false
    }
  }
  if (active.row < 0) return event.key === 'Enter' && openMenu(event.currentTarget, active)
  if (row === undefined) return false
  switch (event.key) {
    case ' ':
      if (event.shiftKey) toggleRow(row.row_id)
      else view.address.openRow(row.row_id)
      return true
    case 'Enter':
    case 'F2':
      openCell(view, active)
      return true
    case 'Delete':
    case 'Backspace':
      void clearArea(view)
      return true
    case 'Escape':
      view.state.getState().goTo(active)
      return true
    default:
      // Typing on an input cell replaces its value, as in a spreadsheet.
      if (event.key.length !== 1 || event.altKey || column?.kind !== 'input' || !view.can.edit) return false
      edit({ place: active, text: event.key })
      return true
  }
}

/** Opens a cell: edits an input, opens the panel of an action, or toggles the selection at a row number. */
export function openCell(view: SheetView, place: Place): void {
  const column = view.placed[place.column - 1]
  const row = view.rows.row(place.row)
  const { edit, toggleRow } = view.state.getState()
  if (row === undefined) return
  if (column?.kind === 'action') view.address.openCell(row.row_id, column.key)
  else if (column?.kind === 'input' && view.can.edit) {
    edit({ place, text: valueText(row.inputs[column.name]) })
  } else if (place.column === 0) toggleRow(row.row_id)
}

function openMenu(grid: HTMLElement, { column }: Place): boolean {
  const head = grid.querySelector(`[aria-rowindex="1"] > [aria-colindex="${column + 1}"]`)
  const control = head?.querySelector<HTMLElement>('button, input')
  control?.focus()
  control?.click()
  return control !== null && control !== undefined
}

async function clearArea(view: SheetView): Promise<void> {
  await editArea(view, (rows, inputs) =>
    rows.map(({ row_id }) => ({ row_id, inputs: Object.fromEntries(inputs.map((name) => [name, ''])) })),
  )
}

/** Copies the values of the first selected row to all other rows of the range. */
async function fillDown(view: SheetView): Promise<void> {
  await editArea(view, ([first, ...rest], inputs) =>
    rest.map(({ row_id }) => ({
      row_id,
      inputs: Object.fromEntries(inputs.map((name) => [name, first?.inputs[name] ?? null])),
    })),
  )
}

type Rows = Awaited<ReturnType<SheetView['rows']['range']>>

async function editArea(view: SheetView, make: (rows: Rows, inputs: string[]) => RowEdit[]): Promise<void> {
  if (!view.can.edit) return
  const { from, to } = getSelectedArea(view.state.getState())
  const inputs = view.placed
    .slice(Math.max(0, from.column - 1), to.column)
    .flatMap((column) => (column.kind === 'input' ? [column.name] : []))
  if (inputs.length === 0 || to.row < 0) return
  if (to.row - from.row >= MAX_EDITED_ROWS) {
    notifyProblem(
      `At most ${MAX_EDITED_ROWS.toLocaleString('en')} rows can be edited at once. Import a file for more`,
    )
    return
  }
  try {
    const edits = make(await view.rows.range(Math.max(0, from.row), to.row), inputs)
    if (edits.length > 0) await editRows(view, edits)
  } catch (error) {
    notifyProblem(error)
  }
}
