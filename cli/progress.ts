import type { Terminal } from './terminal.ts'

const EVERY_MS = 2000

/** Says on stderr how far a long command is, now and then. */
export function createProgress(name: string, { stderr }: Terminal): (line: string) => void {
  let said = Date.now()
  return (line) => {
    if (Date.now() - said < EVERY_MS) return
    said = Date.now()
    stderr.write(`${name}: ${line}\n`)
  }
}
