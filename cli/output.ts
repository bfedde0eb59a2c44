import pc from 'picocolors'
import type { Terminal } from './terminal.ts'

/** What a command has to say: `data` for programs, `text` for people; with `exit`, that it did not go well. */
export type CommandOutput = { data: unknown; text: () => string; exit?: number }

// Told nothing, the library colours for every CI, also into a pipe. (Of a pipe `isTTY` is undefined.)
const isPlain = !process.stdout.isTTY || Boolean(process.env['NO_COLOR'])
export const colors = pc.createColors(!isPlain)

export function printOutput(output: CommandOutput, terminal: Terminal, json: boolean): void {
  terminal.stdout.write(`${json ? JSON.stringify(output.data) : output.text()}\n`)
  if (output.exit !== undefined) terminal.exitCode = output.exit
}

/** Lines of `label  value`, indented under their title. */
export function formatDetails(title: string, details: [label: string, value: string][]): string {
  const width = Math.max(...details.map(([label]) => label.length))
  return [title, ...details.map(([label, value]) => `  ${colors.dim(label.padEnd(width))}  ${value}`)].join(
    '\n',
  )
}

/** A secret that cannot be read again. */
export function formatOnce(secret: string): string {
  return `${colors.bold(secret)}  ${colors.yellow('(shown once: keep it now)')}`
}

/** Aligned columns under their heads; `none` when there is no row. */
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
