import pc from 'picocolors'
import type { Terminal } from './terminal.ts'

/** The output of a command: `data` for programs, `text` for people, and `exit` if it failed. */
export type CommandOutput = { data: unknown; text: () => string; exit?: number }

// Without this setting the library uses colours in every CI, even in a pipe. (In a pipe `isTTY` is
// undefined.)
const isPlain = !process.stdout.isTTY || Boolean(process.env['NO_COLOR'])
export const colors = pc.createColors(!isPlain)

export function printOutput(output: CommandOutput, terminal: Terminal, json: boolean): void {
  terminal.stdout.write(`${json ? JSON.stringify(output.data) : output.text()}\n`)
  if (output.exit !== undefined) terminal.exitCode = output.exit
}

/** Formats lines of `label  value`, indented under a title. */
export function formatDetails(title: string, details: [label: string, value: string][]): string {
  const width = Math.max(...details.map(([label]) => label.length))
  return [title, ...details.map(([label, value]) => `  ${colors.dim(label.padEnd(width))}  ${value}`)].join(
    '\n',
  )
}

/** Formats a secret that is shown only once. */
export function formatOnce(secret: string): string {
  return `${colors.bold(secret)}  ${colors.yellow('(shown once: keep it now)')}`
}

/** Formats aligned columns under their heads, or returns `none` if there are no rows. */
export function formatTable(heads: string[], rows: string[][], none: string): string {
  if (rows.length === 0) return none
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [colors.dim(line(heads)), ...rows.map(line)].join('\n')
}

export function formatTime(time: Date | null): string {
  return time === null ? '-' : `${time.toISOString().slice(0, 16).replace('T', ' ')}Z`
}

const EVERY_MS = 2000

/** Returns a function that prints the progress of a long command on stderr, at most every 2 seconds. */
export function createProgress(name: string, { stderr }: Terminal): (line: string) => void {
  let printedAt = Date.now()
  return (line) => {
    if (Date.now() - printedAt < EVERY_MS) return
    printedAt = Date.now()
    stderr.write(`${name}: ${line}\n`)
  }
}
