import { memo, useCallback, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { useShallow } from 'zustand/react/shallow'
import { rowPath } from '../../../api/calls.ts'
import type { Row } from '../../../api/sheet.ts'
import { classNames } from '../../../ui/class-names.ts'
import { plural } from '../../../ui/figure.ts'
import { shownText } from '../cell-text.ts'
import type { PlacedColumn } from '../columns.ts'
import { useSheet } from '../sheet-view.ts'
import { getSelectedArea, isSelected } from '../view-state.ts'
import { drawCell } from './grid-cell.tsx'

export type RowParts = {
  /** The width of the cell with the checkbox. */
  headWidth: number
  frozen: readonly PlacedColumn[]
  /** The columns in view that are not frozen. */
  free: readonly PlacedColumn[]
  /** The total width of the unfrozen columns to the left of them. */
  before: number
  /** The index of the first of them among all columns. */
  firstFree: number
  width: number
  /** Tells whether the columns are wider than the view. Only then must frozen cells be sticky. */
  isWider: boolean
}

type Props = RowParts & { index: number; top: number; plain: boolean }

/** A row of the grid. It rerenders only when its row or the part of the selection in it changes. */
export const GridRow = memo(function GridRow({
  index,
  top,
  plain,
  headWidth,
  frozen,
  free,
  before,
  firstFree,
  isWider,
}: Props) {
  const { rows, state } = useSheet()
  const subscribe = useCallback((listener: () => void) => rows.subscribeRow(index, listener), [rows, index])
  const row = useSyncExternalStore(subscribe, () => rows.row(index))
  const { selected, activeColumn, rangeFrom, rangeTo, editing } = useStore(
    state,
    useShallow((current) => {
      const { from, to } = getSelectedArea(current)
      const isInRange = from.row <= index && index <= to.row
      return {
        selected: isSelected(current.selected, row?.row_id),
        activeColumn: current.active.row === index ? current.active.column : -1,
        rangeFrom: isInRange ? from.column : -1,
        rangeTo: isInRange ? to.column : -1,
        editing: current.editing?.place.row === index ? current.editing : null,
      }
    }),
  )
  const cell = (column: PlacedColumn, place: number, left: number | null) =>
    drawCell({
      column,
      place,
      left,
      row,
      isActive: activeColumn === place,
      isInRange: rangeFrom <= place && place <= rangeTo && (rangeFrom !== rangeTo || activeColumn < 0),
      editing: editing?.place.column === place ? editing : null,
    })
  let left = headWidth
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      className={classNames(
        'absolute left-0 grid h-(--row-height) w-full grid-cols-(--columns) border-b [contain:size_layout_style]',
        selected ? 'bg-selected' : 'bg-bg',
      )}
      style={{ top }}
    >
      <RowHead index={index} row={row} selected={selected} isActive={activeColumn === 0} isSticky={isWider} />
      {plain ? (
        <PlainCells row={row} columns={[...frozen, ...free]} />
      ) : (
        <>
          {frozen.map((column, place) => {
            const at = left
            left += column.width
            return cell(column, place + 1, isWider ? at : null)
          })}
          {before > 0 && <div role="none" />}
          {free.map((column, place) => cell(column, firstFree + place + 1, null))}
        </>
      )}
    </div>
  )
})

/** The cells of a row during fast scrolling: plain text without elements, because nobody can read it. */
function PlainCells({ row, columns }: { row: Row | undefined; columns: readonly PlacedColumn[] }) {
  const text = columns
    .map((column) => (column.kind === 'input' ? shownText(row?.inputs[column.name]) : ''))
    .join('   ')
  return (
    <div role="gridcell" className="col-[2/-1] truncate px-2 text-muted">
      {text}
    </div>
  )
}

function RowHead({
  index,
  row,
  selected,
  isActive,
  isSticky,
}: {
  index: number
  row: Row | undefined
  selected: boolean
  isActive: boolean
  isSticky: boolean
}) {
  const { state, sheet, address } = useSheet()
  const comments = row?.open_comments?.total ?? 0
  return (
    <div
      role="gridcell"
      aria-colindex={1}
      tabIndex={isActive ? 0 : -1}
      className={classNames(
        'flex items-center gap-1.5 border-r px-2 text-11 text-muted outline-offset-[-2px]',
        isSticky ? 'sticky left-0 z-1' : comments > 0 && 'relative',
        selected ? 'bg-selected' : 'bg-bg',
      )}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select row ${index + 1}`}
        checked={selected}
        disabled={row === undefined}
        onChange={() => row !== undefined && state.getState().toggleRow(row.row_id)}
      />
      {row === undefined ? (
        <span aria-hidden>{index + 1}</span>
      ) : (
        <a
          href={rowPath(sheet, row.row_id)}
          tabIndex={-1}
          draggable={false}
          aria-label={`Open row ${index + 1}`}
          className="hover:text-accent-text hover:underline"
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return
            event.preventDefault()
            address.openRow(row.row_id)
          }}
        >
          {index + 1}
        </a>
      )}
      {comments > 0 && (
        <span
          title={plural(comments, 'open comment')}
          className="absolute top-0 right-0.5 rounded-sm bg-accent px-1 leading-3.5 text-white"
        >
          {comments}
        </span>
      )}
    </div>
  )
}
