import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { computeScale, scrollWindow } from './scroll-window.ts'

/** The number of rows per frame above which scrolling counts as a fling. During a fling, rows are drawn plain. */
const FLING_ROWS = 30
const SETTLE_MS = 90

/** Returns the size of the visible part of an element. */
function useSize(element: RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ width: 1200, height: 800 })
  useLayoutEffect(() => {
    const grid = element.current
    if (grid === null) return
    const measure = () => setSize({ width: grid.clientWidth, height: grid.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(grid)
    return () => observer.disconnect()
  }, [element])
  return size
}

/** Follows the scroll position of the grid, with one update per frame. */
export function useScrollWindow(
  element: RefObject<HTMLElement | null>,
  { total, rowHeight, headHeight }: { total: number; rowHeight: number; headHeight: number },
) {
  const [at, setAt] = useState({ scrollTop: 0, scrollLeft: 0, fine: 0 })
  const size = useSize(element)
  const [isFlinging, setFlinging] = useState(false)
  const fine = useRef({ scrollTop: -1, value: 0 })
  const viewHeight = Math.max(rowHeight, size.height - headHeight)

  useEffect(() => {
    const grid = element.current
    if (grid === null) return
    let frame = 0
    let settle: ReturnType<typeof setTimeout> | undefined
    let last = grid.scrollTop
    const scale = computeScale(total, rowHeight, viewHeight)
    const draw = () => {
      const { scrollTop, scrollLeft } = grid
      const isFar = Math.abs(scrollTop - last) * scale > FLING_ROWS * rowHeight
      if (isFar) {
        clearTimeout(settle)
        settle = setTimeout(() => setFlinging(false), SETTLE_MS)
      }
      last = scrollTop
      const kept = Math.abs(fine.current.scrollTop - scrollTop) < 1 ? fine.current.value : 0
      // Rendered within this frame: in the next one, the rows would cost another frame and be misplaced in this one.
      flushSync(() => {
        if (isFar) setFlinging(true)
        setAt({ scrollTop, scrollLeft, fine: kept })
      })
    }
    const onScroll = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(draw)
    }
    // On a scaled scroll bar one wheel step would jump many rows, so the wheel is handled here and moves by row pixels.
    const onWheel = (event: WheelEvent) => {
      if (scale === 1 || event.ctrlKey || event.shiftKey) return
      event.preventDefault()
      const moved = fine.current.value + event.deltaY
      const top = Math.trunc(moved / scale)
      const scrollTop = Math.max(0, Math.min(grid.scrollHeight - grid.clientHeight, grid.scrollTop + top))
      fine.current = { scrollTop, value: moved - top * scale }
      grid.scrollTop = scrollTop
      onScroll()
    }
    grid.addEventListener('scroll', onScroll, { passive: true })
    grid.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(settle)
      // The effect restarts when rows are added during a fling; without this, the fling would never end.
      setFlinging(false)
      grid.removeEventListener('scroll', onScroll)
      grid.removeEventListener('wheel', onWheel)
    }
  }, [element, total, rowHeight, viewHeight])

  /** Scrolls by the least amount that brings the row into view. */
  const revealRow = useCallback(
    (row: number) => {
      const grid = element.current
      if (grid === null || row < 0) return
      const scale = computeScale(total, rowHeight, viewHeight)
      const kept = Math.abs(fine.current.scrollTop - grid.scrollTop) < 1 ? fine.current.value : 0
      const top = grid.scrollTop * scale + kept
      const wanted = Math.max((row + 1) * rowHeight - viewHeight, Math.min(top, row * rowHeight))
      if (wanted === top) return
      const scrollTop = Math.round(wanted / scale)
      fine.current = { scrollTop, value: scale === 1 ? 0 : wanted - scrollTop * scale }
      grid.scrollTop = scrollTop
    },
    [element, total, rowHeight, viewHeight],
  )

  const window = scrollWindow({ total, rowHeight, viewHeight, ...at })
  return { window, scrollLeft: at.scrollLeft, width: size.width, isFlinging, revealRow, viewHeight }
}
