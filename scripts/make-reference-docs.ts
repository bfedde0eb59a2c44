import { mkdir, writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import { z } from 'zod'
import { ERROR_STATUS } from '#contract/errors.ts'
import { SETTINGS } from '#server/lib/config/config.ts'
import { GROUPS } from '../cli/main.ts'
import { LIMITS } from './limits.ts'

const MADE = 'Generated from the program by `npm run docs`; change the program, not this file.'

/** Returns the pages of docs/reference by name. */
export async function printReferenceDocs(): Promise<Record<string, string>> {
  return {
    'settings.md': printSettings(),
    'commands.md': await printCommands(),
    'errors.md': printErrors(),
    'limits.md': printLimits(),
  }
}

function printSettings(): string {
  const rows = Object.entries(SETTINGS).map(([name, schema]) => {
    const shown = formatDefault(schema)
    return [`\`${name}\``, shown === '' ? '' : `\`${shown}\``, schema.description ?? '']
  })
  return page(
    'Settings',
    "Environment variables. The server checks them when it starts and reports every invalid one. There are also `LOAM_PROVIDER_KEY_<NAME>`, a provider's key for the whole installation (`LOAM_PROVIDER_KEY_HUNTER`), and `LOAM_PROVIDER_URL_<NAME>`, another base URL for that provider, to which Loam's rate limits for it do not apply: [providers](../providers.md).",
    printTable(['variable', 'default', 'meaning'], rows),
  )
}

/** Returns the default as it is written, if the schema shows it: a path is stored as an absolute one. */
function formatDefault(schema: z.ZodType): string {
  const written: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).default
  const value = written ?? schema.safeParse(undefined).data ?? ''
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

async function printCommands(): Promise<string> {
  const parts: string[] = []
  for (const { name, about, load } of GROUPS) {
    const group = new Command(name)
    ;(await load()).define(group)
    parts.push(`## ${name}`, `${about}.`)
    for (const command of group.commands.length > 0 ? group.commands : [group]) {
      const path = command === group ? name : `${name} ${command.name()}`
      const usage = command.registeredArguments.map((one) =>
        one.required ? `<${one.name()}>` : `[${one.name()}]`,
      )
      parts.push(`**\`loam ${[path, ...usage].join(' ')}\`** ${command.description()}`)
      const options = command.options.map(({ flags, description }) => [`\`${flags}\``, description])
      if (options.length > 0) parts.push(printTable(['option', ''], options))
    }
  }
  return page(
    'Commands',
    'Run as `npx loam` in the folder of Loam. Every command has `--help` with examples, and `--json` for programs. Exit codes: 0 done, 1 failed, 2 bad input or usage, 3 not found, 4 conflict, 5 database, server or data folder not available, 6 API key missing, wrong or not allowed to, 7 a limit or too few credits, 9 differences.',
    ...parts,
  )
}

function printErrors(): string {
  const rows = Object.entries(ERROR_STATUS).map(([code, status]) => [String(status), `\`${code}\``])
  return page(
    'Errors',
    'An error answers `{"status", "error", "message"}`. `error` is one of the codes below; the message says what is wrong and what to do. A `Validation Error` also has `errors`, a list of `{"field", "message"}` with every failure at once. 429 has `retryAfter` in seconds. 500 has a fixed text and the request id; the log has the cause under that id.',
    printTable(['status', 'error'], rows),
  )
}

function printLimits(): string {
  return page(
    'Limits',
    'A limit with the name of a setting can be changed. A request beyond a limit gets the status in the last column and a message that names the limit.',
    printTable(['what', 'at most', 'beyond the limit'], LIMITS),
  )
}

const page = (title: string, ...parts: string[]) => `${[`# ${title}`, MADE, ...parts].join('\n\n')}\n`

const printTable = (heads: string[], rows: string[][]) =>
  [heads, heads.map(() => '---'), ...rows]
    .map(
      (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`,
    )
    .join('\n')

if (import.meta.main) {
  await mkdir('docs/reference', { recursive: true })
  for (const [name, text] of Object.entries(await printReferenceDocs())) {
    await writeFile(`docs/reference/${name}`, text)
  }
}
