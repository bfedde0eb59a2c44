import { text } from 'node:stream/consumers'
import type { Terminal } from './terminal.ts'

/**
 * Reads a secret from the command line, or from standard input for `-`, because other users can see arguments
 * in the list of processes.
 */
export async function readSecret(given: string, { stdin }: Terminal): Promise<string> {
  return given === '-' ? (await text(stdin)).replace(/\r?\n$/, '') : given
}
