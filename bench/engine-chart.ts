export type Point = { rows: number; cellsPerSecond: number }

const WIDTH = 760
const PANEL = { left: 90, right: 30, inset: 30, height: 170 }
// Tones in the middle, which can be read on white and on black.
const [INK, GRID, BLUE, ORANGE] = ['#7a828c', '#8b949e55', '#2f81f7', '#d9730d']

/** Throughput, and its inverse, over the rows of a run: both lines are flat when a cell costs the same in any run. */
export function drawChart(points: Point[], title: string): string {
  const panels = [
    { name: 'cells / second', color: BLUE, top: 60, of: (point: Point) => point.cellsPerSecond },
    { name: 'µs / cell', color: ORANGE, top: 290, of: (point: Point) => 1e6 / point.cellsPerSecond },
  ]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 520" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">
<text x="${PANEL.left}" y="30" font-size="16">${title}</text>
${panels.map((panel) => drawPanel(points, panel)).join('\n')}
<text x="${(PANEL.left + WIDTH - PANEL.right) / 2}" y="510" text-anchor="middle">rows of the run (5 actions each)</text>
</svg>
`
}

type Panel = { name: string; color: string; top: number; of: (point: Point) => number }

function drawPanel(points: Point[], { name, color, top, of }: Panel): string {
  const bottom = top + PANEL.height
  const highest = niceAbove(Math.max(...points.map(of)))
  const logs = points.map((point) => Math.log10(point.rows))
  const [from, to] = [Math.min(...logs), Math.max(...logs)]
  const span = WIDTH - PANEL.left - PANEL.right - 2 * PANEL.inset
  const x = (rows: number) => PANEL.left + PANEL.inset + ((Math.log10(rows) - from) / (to - from || 1)) * span
  const y = (value: number) => bottom - (value / highest) * PANEL.height
  const lines = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = y(part * highest).toFixed(1)
    return (
      `<path d="M${PANEL.left} ${at}H${WIDTH - PANEL.right}" stroke="${GRID}"/>` +
      `<text x="${PANEL.left - 8}" y="${Number(at) + 4}" text-anchor="end">${format(part * highest)}</text>`
    )
  })
  const ticks = points.map(
    ({ rows }) =>
      `<text x="${x(rows).toFixed(1)}" y="${bottom + 20}" text-anchor="middle">${format(rows)}</text>`,
  )
  const marks = points.map((point) => {
    const [cx, cy] = [x(point.rows).toFixed(1), y(of(point)).toFixed(1)]
    const value = of(point).toLocaleString('en', { maximumSignificantDigits: 3 })
    return (
      `<circle cx="${cx}" cy="${cy}" r="4" fill="${color}"/>` +
      `<text x="${cx}" y="${Number(cy) - 10}" text-anchor="middle" fill="${color}">${value}</text>`
    )
  })
  const path = points.map((point) => `${x(point.rows).toFixed(1)} ${y(of(point)).toFixed(1)}`).join('L')
  return [
    `<text x="${PANEL.left}" y="${top - 12}" fill="${color}">${name}</text>`,
    ...lines,
    ...ticks,
    `<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
    ...marks,
  ].join('\n')
}

/** The next of 1, 2, 4, 6, 8 times a power of ten, with room for a label above the highest point. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value * 1.15))
  return ([1, 2, 4, 6, 8, 10].find((step) => step * power >= value * 1.15) ?? 10) * power
}

function format(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000} M`
  return value >= 1000 ? `${value / 1000} k` : String(Number(value.toPrecision(3)))
}
