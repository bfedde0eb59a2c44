import type { Terminal } from './terminal.ts'

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
