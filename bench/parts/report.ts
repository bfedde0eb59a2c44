/** Prints a table to stdout. */
export function print(title: string, rows: Record<string, unknown>[]): void {
  process.stdout.write(`\n${title}\n`)
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)))
  const line = (cells: unknown[]) =>
    `  ${cells.map((cell, n) => String(cell).padEnd(widths[n] ?? 0)).join('  ')}`.trimEnd()
  process.stdout.write(`${line(names)}\n`)
  for (const row of rows) process.stdout.write(`${line(names.map((name) => row[name]))}\n`)
}

type Kind = 'at least' | 'at most'

/** Compares a value with its bar. If the bar is missed, the program ends with exit code 1. */
export function judge(value: number, limit: number, kind: Kind = 'at least') {
  const held = kind === 'at least' ? value >= limit : value <= limit
  if (!held) process.exitCode = 1
  return { held, sign: kind === 'at least' ? '>=' : '<=' }
}

export function bar(name: string, value: number, limit: number, kind: Kind = 'at least'): void {
  const { held, sign } = judge(value, limit, kind)
  process.stdout.write(
    `bar ${name}: ${value.toFixed(2)} ${sign} ${limit.toFixed(2)} ${held ? 'ok' : 'missed'}\n`,
  )
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Prints progress to stderr. Only the tables are output. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}
