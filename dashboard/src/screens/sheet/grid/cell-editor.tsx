import { type ChangeEvent, type KeyboardEvent, useRef, useState } from 'react'
import type { Row } from '../../../api/sheet.ts'
import { valueText } from '../cell-text.ts'
import type { InputColumn } from '../columns.ts'
import { editRows } from '../row-edits.ts'
import { useSheet } from '../sheet-view.ts'

/** The editor of an input cell. Enter and Tab save and move on, Escape discards the text, leaving the cell saves it. */
export function CellEditor({ column, row, initial }: { column: InputColumn; row: Row; initial: string }) {
  const view = useSheet()
  const [text, setText] = useState(initial)
  const isDone = useRef(false)
  const finish = (move: { row: number; column: number } | null, keep: boolean) => {
    if (isDone.current) return
    isDone.current = true
    const { active, goTo, edit } = view.state.getState()
    edit(null)
    if (keep && text !== valueText(row.inputs[column.name])) {
      void editRows(view, [{ row_id: row.row_id, inputs: { [column.name]: text } }])
    }
    if (move === null) return
    const last = Math.max(0, (view.rows.total ?? 1) - 1)
    goTo({
      row: Math.min(last, Math.max(0, active.row + move.row)),
      column: Math.min(view.placed.length, Math.max(1, active.column + move.column)),
    })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    if (event.key === 'Enter') {
      event.preventDefault()
      finish({ row: event.shiftKey ? -1 : 1, column: 0 }, true)
    } else if (event.key === 'Tab') {
      event.preventDefault()
      finish({ row: 0, column: event.shiftKey ? -1 : 1 }, true)
    } else if (event.key === 'Escape') {
      event.preventDefault()
      finish(null, false)
    }
  }
  return (
    <Editor
      column={column}
      initial={initial}
      aria-label={`Edit ${column.name}`}
      autoFocus
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => finish(null, true)}
      className="h-full w-full min-w-0 bg-bg text-text outline-none"
    />
  )
}

type EditorProps = {
  column: InputColumn
  initial: string
  'aria-label': string
  autoFocus: boolean
  value: string
  onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => void
  onKeyDown: (event: KeyboardEvent) => void
  onBlur: () => void
  className: string
}

/**
 * Returns the control for the type of the column. A value that the control could not show is edited as text, so that
 * opening it loses nothing.
 */
function Editor({ column, initial, ...control }: EditorProps) {
  if (column.type === 'date' && /^(\d{4}-\d{2}-\d{2})?$/.test(initial)) {
    return <input type="date" {...control} />
  }
  const choices = column.type === 'boolean' ? BOOLEANS : (column.choices ?? [])
  if ((column.type === 'boolean' || column.type === 'select') && ['', ...choices].includes(initial)) {
    return (
      <select {...control}>
        {['', ...choices].map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  }
  return <input type="text" spellCheck={false} {...control} />
}

const BOOLEANS = ['true', 'false']
