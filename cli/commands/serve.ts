import type { Command } from 'commander'
import { z } from 'zod'
import { serve } from '#server/main.ts'
import { examples, readFlags } from '../flags.ts'
import { commandEnvironment } from '../session.ts'
import { terminalOf } from '../terminal.ts'

const Flags = z.strictObject({
  roles: z.string().exactOptional(),
  port: z.string().exactOptional(),
  host: z.string().exactOptional(),
})

const VARIABLES = { roles: 'LOAM_ROLES', port: 'PORT', host: 'HOST' } as const

export function define(command: Command): void {
  command
    .description('Run the server until Ctrl-C. Flags override environment variables.')
    .option('--roles <list>', 'roles of this process: api, worker or both (LOAM_ROLES)')
    .option('--port <number>', 'port to listen on; 0 chooses a free one (PORT)')
    .option('--host <address>', 'address to listen on (HOST)')
    .addHelpText('after', examples('loam serve', 'loam serve --roles api --host 0.0.0.0 --port 8080'))
    .action(async function act(this: Command) {
      const flags = readFlags(this, Flags)
      const env = commandEnvironment(terminalOf(this))
      for (const name of ['roles', 'port', 'host'] as const) {
        const value = flags[name]
        if (value !== undefined) env[VARIABLES[name]] = value
      }
      await serve(env)
      // Everything is closed. Timers left by libraries would only delay the exit.
      process.exit()
    })
}
