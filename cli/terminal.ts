import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'

type Output = { write(text: string): unknown }

/** The context of a command line: its environment, its streams and its exit code. */
export type Terminal = {
  env: Record<string, string | undefined>
  stdin: Readable
  stdout: Output
  stderr: Output
  exitCode?: number | string | null | undefined
}

const terminals = new WeakMap<Command, Terminal>()

export function attachTerminal(program: Command, terminal: Terminal): void {
  terminals.set(program, terminal)
}

/** Returns the terminal of the program that a command belongs to. */
export function terminalOf(command: Command): Terminal {
  if (command.parent !== null) return terminalOf(command.parent)
  const terminal = terminals.get(command)
  if (terminal === undefined) throw new Error(`${command.name()} has no terminal`)
  return terminal
}

/**
 * Reads a secret from the command line, or from standard input for `-`, because other users can see arguments
 * in the list of processes.
 */
export async function readSecret(given: string, { stdin }: Terminal): Promise<string> {
  return given === '-' ? (await text(stdin)).replace(/\r?\n$/, '') : given
}
