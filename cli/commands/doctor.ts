import type { Command } from 'commander'
import { checkAgent, checkBrowser } from '../doctor/agent.ts'
import type { Check } from '../doctor/check.ts'
import { checkDataFolder, checkDisk } from '../doctor/data-folder.ts'
import { checkDatabase } from '../doctor/database.ts'
import { checkMail, checkServer } from '../doctor/network.ts'
import { checkSettings } from '../doctor/settings.ts'
import { checkVisitors } from '../doctor/visitors.ts'
import { EXIT } from '../failure.ts'
import { examples } from '../flags.ts'
import { colors, printOutput } from '../output.ts'
import { commandEnvironment, wantsJson } from '../session.ts'
import { type Terminal, terminalOf } from '../terminal.ts'

export function define(command: Command): void {
  command
    .description('Check settings, data folder, database, mail server and disk; exit 1 if a check fails')
    .addHelpText('after', examples('loam doctor', 'loam doctor --json'))
    .action(async function act(this: Command) {
      const terminal = terminalOf(this)
      const checks = await examine(terminal)
      const failed = checks.some(({ status }) => status === 'fail')
      const output = { data: checks, text: () => format(checks), ...(failed ? { exit: EXIT.failed } : {}) }
      printOutput(output, terminal, wantsJson(this))
    })
}

async function examine(terminal: Terminal): Promise<Check[]> {
  const { checks, config } = checkSettings(commandEnvironment(terminal))
  if (config === null) return checks
  const [database, mail, server] = await Promise.all([
    checkDatabase(config),
    checkMail(config),
    checkServer(config),
  ])
  return [
    ...checks,
    ...checkDataFolder(config),
    checkDisk(config),
    ...database,
    mail,
    checkAgent(config),
    await checkBrowser(config),
    checkVisitors(config),
    server,
  ]
}

const PAINT = { ok: colors.green, warn: colors.yellow, fail: colors.red }

function format(checks: Check[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length))
  return checks
    .flatMap(({ check, status, detail, fix }) => [
      `${PAINT[status](status.padEnd(4))}  ${check.padEnd(width)}  ${detail}`,
      ...(fix === undefined ? [] : [`${' '.repeat(width + 8)}${colors.dim(`-> ${fix}`)}`]),
    ])
    .join('\n')
}
