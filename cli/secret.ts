import { text } from 'node:stream/consumers'
import type { Terminal } from './terminal.ts'

/** A secret from the command line, or from standard input for `-`: arguments can be read by who lists processes. */
export async function readSecret(given: string, { stdin }: Terminal): Promise<string> {
  return given === '-' ? (await text(stdin)).replace(/\r?\n$/, '') : given
}
