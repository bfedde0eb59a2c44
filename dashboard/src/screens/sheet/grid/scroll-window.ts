/** The number of rows above which scrolling is scaled, because browsers draw no element beyond about 33,000,000 pixels. */
export const MAX_UNSCALED_ROWS = 500_000
const OVERSCAN = 6
/** The block size of a scaled sheet. Row positions count from the start of their block, because browsers draw nothing at very large offsets. */
const BASE_ROWS = 1000

export type ScrollWindow = {
  /** The rows to draw: `from` is inclusive, `to` exclusive. */
  from: number
  to: number
  /** The height of the scrolled element. */
  height: number
  /** The offset of all rows together in that element. */
  shift: number
  /** Returns the offset of a row among the rows. It stays the same while scrolling, so that the row is not redrawn. */
  rowTop: (row: number) => number
  /** The number of row pixels per pixel of scrolling. */
  scale: number
}

type Measures = { total: number; rowHeight: number; viewHeight: number; scrollTop: number; fine: number }

/** Returns the rows to draw for a scroll position. `fine` is the wheel movement below one pixel of a scaled scroll bar. */
export function scrollWindow({ total, rowHeight, viewHeight, scrollTop, fine }: Measures): ScrollWindow {
  const real = total * rowHeight
  const height = Math.min(real, MAX_UNSCALED_ROWS * rowHeight)
  const scale = computeScale(total, rowHeight, viewHeight)
  const realTop = scrollTop * scale + fine
  const first = Math.floor(realTop / rowHeight)
  const count = Math.ceil(viewHeight / rowHeight) + 1
  const base = scale === 1 ? 0 : Math.floor(first / BASE_ROWS) * BASE_ROWS * rowHeight
  return {
    from: Math.max(0, first - OVERSCAN),
    to: Math.min(total, first + count + OVERSCAN),
    height,
    shift: scale === 1 ? 0 : scrollTop - realTop + base,
    rowTop: (row) => row * rowHeight - base,
    scale,
  }
}

export function computeScale(total: number, rowHeight: number, viewHeight: number): number {
  if (total <= MAX_UNSCALED_ROWS) return 1
  return (total * rowHeight - viewHeight) / (MAX_UNSCALED_ROWS * rowHeight - viewHeight)
}

/** The number of columns up to which all are drawn, so that screen readers and the browser's search find every cell of a row. */
const MAX_DRAWN_COLUMNS = 40

/** Returns the range of unfrozen columns in view, and the total width of the columns before it. */
export function columnWindow(widths: readonly number[], left: number, width: number) {
  if (widths.length <= MAX_DRAWN_COLUMNS) return { from: 0, to: widths.length, before: 0 }
  let at = 0
  let from = 0
  while (from < widths.length && at + (widths[from] ?? 0) < left) {
    at += widths[from] ?? 0
    from += 1
  }
  let to = from
  let end = at
  while (to < widths.length && end < left + width) {
    end += widths[to] ?? 0
    to += 1
  }
  return { from, to, before: at }
}
