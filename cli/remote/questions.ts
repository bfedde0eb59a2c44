import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import type { Terminal } from '../terminal.ts'

/** Returns whether a person sits at the terminal. */
export const canAsk = ({ stdin }: Terminal): boolean => (stdin as { isTTY?: boolean }).isTTY === true

/** Asks a question on stderr. Returns whether the answer is the expected one. */
export async function confirm({ stdin, stderr }: Terminal, question: string, expected: string) {
  stderr.write(question)
  const lines = createInterface({ input: stdin as Readable & NodeJS.ReadableStream })
  try {
    for await (const line of lines) return line.trim() === expected
    return false
  } finally {
    lines.close()
  }
}
