export type Point = { rows: number; cellsPerSecond: number }
export type Series = { name: string; points: Point[] }

const WIDTH = 760
const PANEL = { left: 90, right: 30, inset: 30, height: 190 }
// Medium tones that are readable on white and on black.
const [INK, GRID] = ['#7a828c', '#8b949e55']
const COLORS = ['#2f81f7', '#d9730d', '#2da44e']

/**
 * Draws the throughput and its inverse over the rows of a run. The lines are flat if a cell costs the same in
 * every run.
 */
export function drawChart(series: Series[], title: string): string {
  const panels: Panel[] = [
    { name: 'cells / second', top: 80, of: (point) => point.cellsPerSecond },
    { name: 'µs / cell', top: 330, of: (point) => 1e6 / point.cellsPerSecond },
  ]
  const legend = series.map(
    ({ name }, n) => `<text x="${PANEL.left + n * 210}" y="52" fill="${colorOf(n)}">${name}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 580" role="img" aria-label="${title}" font-family="system-ui, sans-serif" font-size="13" fill="${INK}">
<text x="${PANEL.left}" y="30" font-size="16">${title}</text>
${legend.join('\n')}
${panels.map((panel) => drawPanel(series, panel)).join('\n')}
<text x="${(PANEL.left + WIDTH - PANEL.right) / 2}" y="570" text-anchor="middle">rows of the run</text>
</svg>
`
}

type Panel = { name: string; top: number; of: (point: Point) => number }

const colorOf = (n: number): string => COLORS[n % COLORS.length] ?? INK

/** Draws a panel. Both axes are logarithmic, because kinds of cells differ by more than a factor of ten. */
function drawPanel(series: Series[], { name, top, of }: Panel): string {
  const bottom = top + PANEL.height
  const points = series.flatMap((one) => one.points)
  const decades = points.map((point) => Math.log10(of(point)))
  const [lowest, highest] = [Math.floor(Math.min(...decades)), Math.ceil(Math.max(...decades))]
  const sizes = [...new Set(points.map(({ rows }) => rows))].toSorted((a, b) => a - b)
  const logs = sizes.map((rows) => Math.log10(rows))
  const [from, to] = [Math.min(...logs), Math.max(...logs)]
  const span = WIDTH - PANEL.left - PANEL.right - 2 * PANEL.inset
  const x = (rows: number) => PANEL.left + PANEL.inset + ((Math.log10(rows) - from) / (to - from || 1)) * span
  const y = (value: number) =>
    bottom - ((Math.log10(value) - lowest) / (highest - lowest || 1)) * PANEL.height
  const lines = Array.from({ length: highest - lowest + 1 }, (_, n) => 10 ** (lowest + n)).map((value) => {
    const at = y(value).toFixed(1)
    return (
      `<path d="M${PANEL.left} ${at}H${WIDTH - PANEL.right}" stroke="${GRID}"/>` +
      `<text x="${PANEL.left - 8}" y="${Number(at) + 4}" text-anchor="end">${format(value)}</text>`
    )
  })
  const ticks = sizes.map(
    (rows) =>
      `<text x="${x(rows).toFixed(1)}" y="${bottom + 20}" text-anchor="middle">${format(rows)}</text>`,
  )
  const drawn = series.map((one, n) => {
    const marks = one.points.map((point) => {
      const [cx, cy] = [x(point.rows).toFixed(1), y(of(point)).toFixed(1)]
      const value = of(point).toLocaleString('en', { maximumSignificantDigits: 3 })
      return (
        `<circle cx="${cx}" cy="${cy}" r="4" fill="${colorOf(n)}"/>` +
        `<text x="${cx}" y="${Number(cy) - 8}" text-anchor="middle" fill="${colorOf(n)}">${value}</text>`
      )
    })
    const path = one.points.map((point) => `${x(point.rows).toFixed(1)} ${y(of(point)).toFixed(1)}`).join('L')
    return [`<path d="M${path}" fill="none" stroke="${colorOf(n)}" stroke-width="2"/>`, ...marks].join('\n')
  })
  return [`<text x="${PANEL.left}" y="${top - 12}">${name}</text>`, ...lines, ...ticks, ...drawn].join('\n')
}

function format(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000} M`
  return value >= 1000 ? `${value / 1000} k` : String(Number(value.toPrecision(3)))
}
