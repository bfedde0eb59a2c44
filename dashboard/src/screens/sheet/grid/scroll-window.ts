/** Browsers draw no element beyond some 33,000,000 pixels; above this many rows the scroll bar stands for more than it shows. */
export const MAX_UNSCALED_ROWS = 500_000
const OVERSCAN = 6
/** Rows of a scaled sheet are placed from the thousandth before them on: browsers draw nothing that is too far from where it began. */
const BASE_ROWS = 1000

export type ScrollWindow = {
  /** The rows to draw: from inclusive, to exclusive. */
  from: number
  to: number
  /** Of the element that scrolls. */
  height: number
  /** Where the rows together stand in it. */
  shift: number
  /** Where row `n` stands among them: the same while it scrolls, so that it is not drawn again. */
  topOf: (row: number) => number
  /** How many pixels of rows one pixel of scrolling stands for. */
  scale: number
}

type Measures = { total: number; rowHeight: number; viewHeight: number; scrollTop: number; fine: number }

/** `fine` is what a wheel moved beyond whole pixels of a scaled scroll bar. */
export function scrollWindow({ total, rowHeight, viewHeight, scrollTop, fine }: Measures): ScrollWindow {
  const real = total * rowHeight
  const height = Math.min(real, MAX_UNSCALED_ROWS * rowHeight)
  const scale = scaleOf(total, rowHeight, viewHeight)
  const realTop = scrollTop * scale + fine
  const first = Math.floor(realTop / rowHeight)
  const count = Math.ceil(viewHeight / rowHeight) + 1
  const base = scale === 1 ? 0 : Math.floor(first / BASE_ROWS) * BASE_ROWS * rowHeight
  return {
    from: Math.max(0, first - OVERSCAN),
    to: Math.min(total, first + count + OVERSCAN),
    height,
    shift: scale === 1 ? 0 : scrollTop - realTop + base,
    topOf: (row) => row * rowHeight - base,
    scale,
  }
}

export function scaleOf(total: number, rowHeight: number, viewHeight: number): number {
  if (total <= MAX_UNSCALED_ROWS) return 1
  return (total * rowHeight - viewHeight) / (MAX_UNSCALED_ROWS * rowHeight - viewHeight)
}

/** So few are always drawn: screen readers and the browser's own search then find every cell of a row. */
const MAX_DRAWN_COLUMNS = 40

/** Which columns that are not frozen are in view, with the room that those left of them take. */
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
