import { memo } from 'react'
import type { Row } from '../../../api/sheet.ts'
import { classNames } from '../../../ui/class-names.ts'
import {
  CircleX,
  Clock,
  Coins,
  LoaderCircle,
  type Icon,
  SkipForward,
  TriangleAlert,
} from '../../../ui/icons.tsx'
import { type CellState, cellText, valueText } from '../cell-text.ts'
import type { PlacedColumn } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'
import { CellEditor } from './cell-editor.tsx'

const LOOKS: Record<CellState, { pill: string; icon: Icon | null }> = {
  not_run: { pill: '', icon: null },
  queued: { pill: 'bg-queued-bg text-queued', icon: Clock },
  running: { pill: 'bg-running-bg text-running', icon: LoaderCircle },
  complete: { pill: 'bg-complete-bg text-complete', icon: null },
  failed: { pill: 'bg-failed-bg text-failed', icon: CircleX },
  error: { pill: 'bg-error-bg text-error', icon: TriangleAlert },
  out_of_credits: { pill: 'bg-out-of-credits-bg text-out-of-credits', icon: Coins },
  condition_not_met: { pill: 'bg-condition-not-met-bg text-condition-not-met', icon: SkipForward },
}

type Props = {
  column: PlacedColumn
  /** Among all columns, the selecting one being 0. */
  place: number
  /** Where it sticks when it is frozen. */
  left: number | null
  row: Row | undefined
  isActive: boolean
  isInRange: boolean
  editing: { text: string } | null
}

export const GridCell = memo(
  function GridCell({ column, place, left, row, isActive, isInRange, editing }: Props) {
    const { address, state, can } = useSheet()
    const action = column.kind === 'action' ? cellText(row?.cells[column.key], column.outputs) : null
    const text = column.kind === 'input' ? valueText(row?.inputs[column.name]) : ''
    const onDoubleClick = () => {
      if (row === undefined) return
      if (column.kind === 'action') address.openCell(row.row_id, column.key)
      else if (can.edit) state.getState().edit({ place: state.getState().active, text })
    }
    return (
      <div
        role="gridcell"
        aria-colindex={place + 1}
        tabIndex={isActive ? 0 : -1}
        {...(row === undefined
          ? { 'aria-busy': true }
          : action === null
            ? {}
            : { 'aria-label': action.name })}
        aria-selected={isInRange || isActive}
        title={action?.text ?? text}
        onDoubleClick={onDoubleClick}
        className={classNames(
          'flex shrink-0 items-center overflow-hidden border-r px-2 outline-offset-[-2px] select-none focus:outline-2 focus:outline-focus',
          left !== null && 'sticky z-1 bg-bg',
          (isInRange || isActive) && 'bg-selected',
          column.kind === 'input' && column.type === 'number' && 'justify-end',
        )}
        style={left === null ? { width: column.width } : { width: column.width, left }}
      >
        {editing !== null && row !== undefined && column.kind === 'input' ? (
          <CellEditor column={column} row={row} initial={editing.text} />
        ) : action === null ? (
          <span className="truncate">{text}</span>
        ) : (
          <StatePill state={action.state} text={action.text} />
        )}
      </div>
    )
  },
  (before, after) =>
    before.row?.cells[before.column.key] === after.row?.cells[after.column.key] &&
    before.row?.row_id === after.row?.row_id &&
    (before.row === after.row || (before.column.kind === 'action' && after.column.kind === 'action')) &&
    before.column === after.column &&
    before.place === after.place &&
    before.left === after.left &&
    before.isActive === after.isActive &&
    before.isInRange === after.isInRange &&
    before.editing === after.editing,
)

export function StatePill({ state, text }: { state: CellState; text: string }) {
  const { pill, icon: Icon } = LOOKS[state]
  if (state === 'not_run') return null
  return (
    <span
      aria-hidden
      className={classNames(
        'flex max-w-full min-w-0 items-center gap-1 rounded px-1.5 text-12 leading-5',
        pill,
      )}
    >
      {Icon !== null && (
        <Icon className={classNames('size-3 shrink-0', state === 'running' && 'motion-safe:animate-spin')} />
      )}
      <span className={classNames('truncate', text === 'no answer' && 'italic')}>{text}</span>
    </span>
  )
}
