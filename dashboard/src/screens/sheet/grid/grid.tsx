import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useMemo,
  useRef,
} from 'react'
import { useStore } from 'zustand'
import { copyArea } from '../clipboard.ts'
import { selectWidth } from '../columns.ts'
import { useSheet, useTotal } from '../sheet-view.ts'
import type { Place } from '../view-state.ts'
import { GridHead, HEAD_HEIGHT } from './grid-head.tsx'
import { GridRow } from './grid-row.tsx'
import { handleKey, openCell } from './keyboard.ts'
import { columnWindow } from './scroll-window.ts'
import { useScrollWindow } from './use-scroll-window.ts'

/** The rows of a sheet: only those in view are elements. The focus is on a cell, and one cell is the tab stop. */
export function Grid() {
  const view = useSheet()
  const { rows, placed, layout, state } = view
  const element = useRef<HTMLDivElement>(null)
  const total = useTotal(rows) ?? 0
  const { rowHeight } = layout
  const { window, scrollLeft, width, isFlinging, revealRow, viewHeight } = useScrollWindow(element, {
    total,
    rowHeight,
    headHeight: HEAD_HEIGHT,
  })
  const active = useStore(state, ({ active }) => active)
  const editing = useStore(state, ({ editing }) => editing)
  const focusWishes = useStore(state, ({ focusWishes }) => focusWishes)

  const headWidth = selectWidth(total)
  const frozenWidth = headWidth + placed.reduce((sum, one) => sum + (one.frozen ? one.width : 0), 0)
  const free = useMemo(() => placed.filter(({ frozen }) => !frozen), [placed])
  const frozen = useMemo(() => placed.filter(({ frozen }) => frozen), [placed])
  const freeWidths = useMemo(() => free.map(({ width }) => width), [free])
  const inView = columnWindow(freeWidths, scrollLeft, Math.max(0, width - frozenWidth))
  const totalWidth = frozenWidth + freeWidths.reduce((sum, one) => sum + one, 0)

  useEffect(() => {
    if (!isFlinging) rows.show(window.from, window.to)
  }, [rows, window.from, window.to, isFlinging, total])

  // A cell that a key led to is focused once it is drawn; one that is not in focus stays so.
  const hadFocus = useRef(false)
  useEffect(() => {
    if (focusWishes > 0) hadFocus.current = true
  }, [focusWishes])
  useEffect(() => {
    revealRow(active.row)
    revealColumn(element.current, active, placed, frozenWidth)
    // Also when the panel beside it leaves less room.
  }, [active, placed, frozenWidth, revealRow, width])
  useEffect(() => {
    if (!hadFocus.current || editing !== null) return
    const cell = element.current?.querySelector<HTMLElement>(
      `[aria-rowindex="${active.row + 2}"] > [aria-colindex="${active.column + 1}"]`,
    )
    if (cell !== null && cell !== undefined && !cell.contains(document.activeElement)) {
      cell.focus({ preventScroll: true })
    }
  })

  const shown = Array.from({ length: Math.max(0, window.to - window.from) }, (_, at) => window.from + at)
  // The cell in focus stays an element, also when it is scrolled away.
  if (active.row >= 0 && active.row < total && (active.row < window.from || active.row >= window.to)) {
    shown.push(active.row)
  }
  // The same as long as the columns are: rows that stay in view while it scrolls are then not drawn again.
  const { from: firstFree, to: endFree, before } = inView
  const parts = useMemo(
    () => ({
      headWidth,
      frozen,
      free: free.slice(firstFree, endFree),
      before,
      firstFree: frozen.length + firstFree,
      width: totalWidth,
      isWider: totalWidth > width,
    }),
    [headWidth, frozen, free, firstFree, endFree, before, totalWidth, width],
  )
  // For all rows at once: none needs sizes of its own.
  const sizes = useMemo(
    (): CSSProperties => ({
      lineHeight: `${rowHeight - 1}px`,
      ['--row-height' as string]: `${rowHeight}px`,
      ['--columns' as string]: [
        headWidth,
        ...parts.frozen.map((one) => one.width),
        ...(before > 0 ? [before] : []),
        ...parts.free.map((one) => one.width),
      ]
        .map((size) => `${size}px`)
        .join(' '),
    }),
    [rowHeight, headWidth, parts, before],
  )
  return (
    <div
      ref={element}
      role="grid"
      aria-label="Rows"
      aria-rowcount={total + 1}
      aria-colcount={placed.length + 1}
      aria-multiselectable="true"
      className="relative min-h-0 flex-1 overflow-auto overscroll-contain bg-bg [contain:strict]"
      onFocus={() => void (hadFocus.current = true)}
      onBlur={({ relatedTarget, currentTarget }) => {
        // Elements that are removed while they have the focus leave it to nobody: it comes back to the cell.
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) hadFocus.current = false
      }}
      onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
        handleKey(view, event, { pageRows: Math.max(1, Math.floor(viewHeight / rowHeight) - 1) })
      }}
      onMouseDown={(event) => onPress(event, state)}
      onMouseOver={(event) => {
        // Not of rows that pass beneath a pointer that rests.
        if (event.movementX !== 0 || event.movementY !== 0) tellWhole(event.target)
        const place = event.buttons === 1 ? placeOf(event.target) : null
        if (place !== null && place.row >= 0 && place.column > 0) state.getState().goTo(place, true)
      }}
      onDoubleClick={({ target }) => {
        const place = isControl(target) ? null : placeOf(target)
        if (place !== null && place.row >= 0 && place.column > 0) openCell(view, place)
      }}
      onCopy={(event: ClipboardEvent) => {
        if (event.target instanceof HTMLElement && event.target.closest('input[type=text], textarea')) return
        event.preventDefault()
        copyArea(view, event.clipboardData)
      }}
    >
      <GridHead {...parts} />
      <div role="rowgroup" className="relative" style={{ height: window.height, width: totalWidth }}>
        <div role="presentation" style={{ ...sizes, transform: `translateY(${window.shift}px)` }}>
          {shown.map((index) => (
            <GridRow
              key={index}
              index={index}
              top={window.topOf(index)}
              // The row in focus is never plain: what is typed or pasted while rows fly past is for its cell.
              plain={isFlinging && index !== active.row}
              {...parts}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** Which cell an element belongs to. */
export function placeOf(target: EventTarget | null): Place | null {
  if (!(target instanceof Element)) return null
  const cell = target.closest('[aria-colindex]')
  const row = cell?.closest('[aria-rowindex]')
  if (!cell || !row) return null
  return {
    row: Number(row.getAttribute('aria-rowindex')) - 2,
    column: Number(cell.getAttribute('aria-colindex')) - 1,
  }
}

/** Cells are cut to one line: whoever points at one is told all of it. */
function tellWhole(target: EventTarget): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[role=gridcell]') : null
  if (cell !== null && cell.title !== cell.textContent) cell.title = cell.textContent
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('input, textarea, button') !== null
}

function onPress(event: MouseEvent, state: ReturnType<typeof useSheet>['state']): void {
  const place = placeOf(event.target)
  if (place === null || event.button !== 0) return
  if (isControl(event.target) && place.column > 0) return
  state.getState().goTo(place, event.shiftKey)
}

function revealColumn(
  grid: HTMLElement | null,
  { column }: Place,
  placed: readonly { width: number; frozen: boolean }[],
  frozenWidth: number,
): void {
  const target = placed[column - 1]
  if (grid === null || target === undefined || target.frozen) return
  const left = placed.slice(0, column - 1).reduce((sum, one) => sum + (one.frozen ? 0 : one.width), 0)
  const room = grid.clientWidth - frozenWidth
  if (left < grid.scrollLeft) grid.scrollLeft = left
  else if (left + target.width > grid.scrollLeft + room) grid.scrollLeft = left + target.width - room
}
