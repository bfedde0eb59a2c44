import type { Command } from 'commander'
import type { z } from 'zod'
import type { Loam } from '../../sdk/src/index.ts'
import { readFlags } from '../flags.ts'
import { type CommandOutput, printOutput } from '../output.ts'
import { wantsJson } from '../session.ts'
import { type Terminal, terminalOf } from '../terminal.ts'
import { openClient, type TargetFlags } from './target.ts'

export type Remote<Flags> = { loam: Loam; flags: Flags; names: string[]; terminal: Terminal }

/** Returns a commander action that talks to a server, and prints its output. `names` are the arguments. */
export function onServer<Flags extends TargetFlags>(
  schema: z.ZodType<Flags>,
  work: (remote: Remote<Flags>) => Promise<CommandOutput>,
) {
  return async function act(this: Command): Promise<void> {
    const terminal = terminalOf(this)
    const flags = readFlags(this, schema)
    const loam = await openClient(flags, terminal)
    printOutput(await work({ loam, flags, names: this.args, terminal }), terminal, wantsJson(this))
  }
}
