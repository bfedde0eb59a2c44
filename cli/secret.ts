import { text } from 'node:stream/consumers'

/** A secret from the command line, or from standard input for `-`: arguments can be read by who lists processes. */
export async function readSecret(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).replace(/\r?\n$/, '') : given
}
