import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
} from 'react'
import { useStore } from 'zustand'
import { copyArea } from '../clipboard.ts'
import { selectWidth, TALL } from '../columns.ts'
import { useSheet, useTotal } from '../sheet-view.ts'
import type { Place } from '../view-state.ts'
import { GridHead, HEAD_HEIGHT } from './grid-head.tsx'
import { GridRow } from './grid-row.tsx'
import { handleKey, openCell } from './keyboard.ts'
import { columnWindow } from './scroll-window.ts'
import { useScrollWindow } from './use-scroll-window.ts'

/** The grid of rows. Only rows in view are elements. The focus is on a cell, and one cell is the tab stop. */
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

  const { parts, sizes, frozenWidth } = useGridColumns({ total, scrollLeft, width })

  useEffect(() => {
    if (!isFlinging) rows.show(window.from, window.to)
  }, [rows, window.from, window.to, isFlinging, total])

  const hadFocus = useCellFocus(element)
  useRevealed(element, { frozenWidth, width, revealRow })

  const shown = listIndexes(window, active.row, total)
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
        // When a focused element is removed, no element gets the focus, so it goes back to the active cell.
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) hadFocus.current = false
      }}
      onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
        handleKey(view, event, { pageRows: Math.max(1, Math.floor(viewHeight / rowHeight) - 1) })
      }}
      onMouseDown={(event) => onPress(event, state)}
      onMouseOver={(event) => {
        // Ignores rows that scroll past under a resting pointer.
        if (event.movementX !== 0 || event.movementY !== 0) showFullText(event.target)
        const place = event.buttons === 1 ? findPlace(event.target) : null
        if (place !== null && place.row >= 0 && place.column > 0) state.getState().goTo(place, true)
      }}
      onClick={keepLinksClosed}
      onDoubleClick={({ target }) => {
        const place = isControl(target) ? null : findPlace(target)
        if (place !== null && place.row >= 0 && place.column > 0) openCell(view, place)
      }}
      onCopy={(event: ClipboardEvent) => {
        if (event.target instanceof HTMLElement && event.target.closest('input[type=text], textarea')) return
        event.preventDefault()
        copyArea(view, event.clipboardData)
      }}
    >
      <GridHead {...parts} />
      <div role="rowgroup" className="relative" style={{ height: window.height, width: parts.width }}>
        <div
          role="presentation"
          className={rowHeight === TALL ? 'tall-rows' : undefined}
          style={{ ...sizes, transform: `translateY(${window.shift}px)` }}
        >
          {shown.map((index) => (
            <GridRow
              key={index}
              index={index}
              top={window.rowTop(index)}
              // The focused row is never plain, because typed or pasted text during fast scrolling is for its cell.
              plain={isFlinging && index !== active.row}
              {...parts}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

/** Returns the indexes of the rows that are elements. The row of the focused cell stays one when it is scrolled out of view. */
/** Scrolls the active cell into view. It also runs when a panel opens and leaves less width. */
function useRevealed(
  element: RefObject<HTMLElement | null>,
  { frozenWidth, width, revealRow }: { frozenWidth: number; width: number; revealRow: (row: number) => void },
): void {
  const { placed, state } = useSheet()
  const active = useStore(state, ({ active }) => active)
  useEffect(() => {
    revealRow(active.row)
    revealColumn(element.current, active, placed, frozenWidth)
  }, [element, active, placed, frozenWidth, revealRow, width])
}

function listIndexes({ from, to }: { from: number; to: number }, active: number, total: number): number[] {
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
  const isAway = active >= 0 && active < total && (active < from || active >= to)
  return isAway ? [...shown, active] : shown
}

/** Gives the focus to the active cell after drawing, but only if the grid had the focus before. */
function useCellFocus(element: RefObject<HTMLElement | null>): RefObject<boolean> {
  const { state } = useSheet()
  const active = useStore(state, ({ active }) => active)
  const editing = useStore(state, ({ editing }) => editing)
  const focusRequests = useStore(state, ({ focusRequests }) => focusRequests)
  const hadFocus = useRef(false)
  useEffect(() => {
    if (focusRequests > 0) hadFocus.current = true
  }, [focusRequests])
  useEffect(() => {
    if (!hadFocus.current || editing !== null) return
    const cell = element.current?.querySelector<HTMLElement>(
      `[aria-rowindex="${active.row + 2}"] > [aria-colindex="${active.column + 1}"]`,
    )
    if (cell !== null && cell !== undefined && !cell.contains(document.activeElement)) {
      cell.focus({ preventScroll: true })
    }
  })
  return hadFocus
}

/** Returns the columns in view, which all rows share, and their sizes. */
function useGridColumns({ total, scrollLeft, width }: { total: number; scrollLeft: number; width: number }) {
  const { placed, layout } = useSheet()
  const { rowHeight } = layout
  const headWidth = selectWidth(total)
  const frozenWidth = headWidth + placed.reduce((sum, one) => sum + (one.frozen ? one.width : 0), 0)
  const free = useMemo(() => placed.filter(({ frozen }) => !frozen), [placed])
  const frozen = useMemo(() => placed.filter(({ frozen }) => frozen), [placed])
  const freeWidths = useMemo(() => free.map(({ width }) => width), [free])
  const inView = columnWindow(freeWidths, scrollLeft, Math.max(0, width - frozenWidth))
  const totalWidth = frozenWidth + freeWidths.reduce((sum, one) => sum + one, 0)
  // Memoized, so that rows that stay in view are not redrawn while the grid scrolls.
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
  // Set once for all rows as CSS variables, so that no row needs sizes of its own.
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
  return { parts, sizes, frozenWidth }
}

/** Returns the position of the cell that contains an element, or null. */
export function findPlace(target: EventTarget | null): Place | null {
  if (!(target instanceof Element)) return null
  const cell = target.closest('[aria-colindex]')
  const row = cell?.closest('[aria-rowindex]')
  if (!cell || !row) return null
  return {
    row: Number(row.getAttribute('aria-rowindex')) - 2,
    column: Number(cell.getAttribute('aria-colindex')) - 1,
  }
}

/** Sets the tooltip of a cell to its full text, because cells cut it off. */
function showFullText(target: EventTarget): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>('[role=gridcell]') : null
  if (cell !== null && cell.title !== cell.textContent) cell.title = cell.textContent
}

/** A link in a cell, which is not the number of a row. */
const CELL_LINK = 'a[target=_blank]'

/** A click on a link selects its cell. With Ctrl, or by touch, where there is no Ctrl, it opens the link. */
function keepLinksClosed(event: MouseEvent): void {
  const isLink = event.target instanceof Element && event.target.closest(CELL_LINK) !== null
  const isTouch = 'pointerType' in event.nativeEvent && event.nativeEvent.pointerType === 'touch'
  if (isLink && !isTouch && !event.ctrlKey && !event.metaKey) event.preventDefault()
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('input, textarea, button') !== null
}

function onPress(event: MouseEvent, state: ReturnType<typeof useSheet>['state']): void {
  const place = findPlace(event.target)
  if (place === null || event.button !== 0) return
  if (isControl(event.target) && place.column > 0) return
  const link = event.target instanceof Element ? event.target.closest(CELL_LINK) : null
  if (link !== null) {
    // The cell gets the focus rather than the link in it.
    event.preventDefault()
    link.closest<HTMLElement>('[role=gridcell]')?.focus({ preventScroll: true })
  }
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
