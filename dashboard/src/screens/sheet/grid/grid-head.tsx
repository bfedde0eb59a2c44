import { memo, type PointerEvent as ReactPointerEvent, useState } from 'react'
import { useStore } from 'zustand'
import { classNames } from '../../../ui/class-names.ts'
import {
  CalendarDays,
  CheckSquare,
  ChevronDown,
  Hash,
  Link2,
  ListChecks,
  Mail,
  Type,
  Zap,
} from '../../../ui/icons.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { ProgressBar } from '../../../ui/progress-bar.tsx'
import { useColumnProgress } from '../column-progress.ts'
import { MIN_WIDTH, moveColumn, type PlacedColumn, tokenOf } from '../columns.ts'
import { useSheet, useTotal } from '../sheet-view.ts'
import { findSorted } from '../sort.ts'
import { countSelected } from '../view-state.ts'
import { ColumnMenu } from './column-menu.tsx'
import type { RowParts } from './grid-row.tsx'
import { SortMark } from './sort-menu.tsx'

export const HEAD_HEIGHT = 36
const DRAGGED_COLUMN = 'application/x-loam-column'
const ICONS = {
  string: Type,
  url: Link2,
  email: Mail,
  number: Hash,
  date: CalendarDays,
  boolean: CheckSquare,
  select: ListChecks,
} as const

export const GridHead = memo(function GridHead({
  headWidth,
  frozen,
  free,
  before,
  firstFree,
  width,
}: RowParts) {
  let left = headWidth
  return (
    <div role="rowgroup" className="sticky top-0 z-10" style={{ width }}>
      <div role="row" aria-rowindex={1} className="flex border-b bg-subtle" style={{ height: HEAD_HEIGHT }}>
        <SelectAll width={headWidth} />
        {frozen.map((column, place) => {
          const at = left
          left += column.width
          return <ColumnHead key={column.key} column={column} place={place + 1} left={at} />
        })}
        <div role="none" className="shrink-0" style={{ width: before }} />
        {free.map((column, place) => (
          <ColumnHead key={column.key} column={column} place={firstFree + place + 1} left={null} />
        ))}
      </div>
    </div>
  )
})

function SelectAll({ width }: { width: number }) {
  const { state, rows } = useSheet()
  const total = useTotal(rows) ?? 0
  const selected = useStore(state, ({ selected }) => selected)
  const isActive = useStore(state, ({ active }) => active.row === -1 && active.column === 0)
  const count = countSelected(selected, total)
  return (
    <div
      role="columnheader"
      aria-label="Row"
      aria-colindex={1}
      tabIndex={isActive ? 0 : -1}
      className="sticky left-0 z-1 flex shrink-0 items-center border-r bg-subtle px-2"
      style={{ width }}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label="Select all rows"
        ref={(box) => {
          if (box !== null) box.indeterminate = count > 0 && count < total
        }}
        checked={total > 0 && count === total}
        onChange={(event) => state.getState().selectAll(event.target.checked)}
      />
    </div>
  )
}

function ColumnHead({ column, place, left }: { column: PlacedColumn; place: number; left: number | null }) {
  const { state, rows, layout, setLayout, placed, address } = useSheet()
  const sorted = findSorted(address.sort, column)
  const [isOver, setOver] = useState(false)
  // Without rows the first column header is the tab stop.
  const isEmpty = useTotal(rows) === 0
  const isActive = useStore(state, ({ active }) =>
    isEmpty ? place === 1 : active.column === place && active.row === -1,
  )
  const Icon = column.kind === 'input' ? ICONS[column.type] : Zap
  return (
    <div
      role="columnheader"
      aria-label={column.name}
      {...(sorted !== null && { 'aria-sort': sorted.direction === 'asc' ? 'ascending' : 'descending' })}
      aria-colindex={place + 1}
      tabIndex={isActive ? 0 : -1}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED_COLUMN)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false)
        const moved = moveColumn(layout, placed, event.dataTransfer.getData(DRAGGED_COLUMN), place - 1)
        if (moved !== layout) setLayout(moved)
      }}
      title={column.kind === 'input' && column.description !== '' ? column.description : column.name}
      className={classNames(
        'group relative flex shrink-0 items-center gap-1.5 border-r bg-subtle px-2 text-12 font-medium outline-offset-[-2px]',
        left !== null && 'sticky z-1',
        isOver && 'bg-selected!',
      )}
      style={left === null ? { width: column.width } : { width: column.width, left }}
    >
      <Icon
        aria-hidden
        className={classNames(
          'size-3 shrink-0',
          column.kind === 'action' ? 'text-accent-text' : 'text-muted',
        )}
      />
      <span
        draggable
        onDragStart={({ dataTransfer }) => {
          dataTransfer.setData(DRAGGED_COLUMN, column.key)
          // A text field, such as one of an action, takes the column as its token.
          dataTransfer.setData('text/plain', tokenOf(column))
          dataTransfer.effectAllowed = 'copyMove'
        }}
        className="min-w-0 flex-1 cursor-grab truncate"
      >
        {column.name}
      </span>
      <SortMark column={column} />
      <Menu
        trigger={
          <button
            type="button"
            tabIndex={-1}
            aria-label={`Menu of ${column.name}`}
            className="rounded p-0.5 text-muted hover:bg-hover hover:text-text"
          >
            <ChevronDown aria-hidden className="size-3.5" />
          </button>
        }
      >
        <ColumnMenu column={column} />
      </Menu>
      {column.kind === 'action' && <ColumnProgress action={column.key} name={column.name} />}
      <ResizeHandle column={column} />
    </div>
  )
}

function ColumnProgress({ action, name }: { action: string; name: string }) {
  const { done, total } = useColumnProgress(action)
  return (
    <div className="absolute inset-x-0 bottom-0">
      <ProgressBar slim label={`Progress of ${name}`} value={done} max={total} />
    </div>
  )
}

function ResizeHandle({ column }: { column: PlacedColumn }) {
  const { layout, setLayout, showLayout } = useSheet()
  const onPointerDown = (event: ReactPointerEvent<HTMLDivElement>) => {
    event.preventDefault()
    event.stopPropagation()
    const handle = event.currentTarget
    const start = event.clientX
    handle.setPointerCapture(event.pointerId)
    let last = layout
    const onMove = (moved: PointerEvent) => {
      const width = Math.max(MIN_WIDTH, Math.round(column.width + moved.clientX - start))
      last = { ...layout, widths: { ...layout.widths, [column.key]: width } }
      showLayout(last)
    }
    const onUp = () => {
      handle.removeEventListener('pointermove', onMove)
      handle.removeEventListener('pointerup', onUp)
      if (last !== layout) setLayout(last)
    }
    handle.addEventListener('pointermove', onMove)
    handle.addEventListener('pointerup', onUp)
  }
  return (
    <div
      aria-hidden
      onPointerDown={onPointerDown}
      onMouseDown={(event) => event.stopPropagation()}
      className="absolute top-0 right-0 h-full w-1.5 cursor-col-resize hover:bg-accent/40"
    />
  )
}
