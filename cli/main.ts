import { readFileSync } from 'node:fs'
import { Command, CommanderError, type Option, type ParseOptionsResult } from 'commander'
import { EXIT, printFailure } from './failure.ts'
import { colors } from './output.ts'
import { attachTerminal, type Terminal } from './terminal.ts'

type Group = {
  name: string
  about: string
  /** Loads the command when it is used, so that help and other commands start faster. */
  load: () => Promise<{ define: (command: Command) => void }>
}

export const GROUPS: Group[] = [
  { name: 'serve', about: 'Run the server', load: () => import('./commands/serve.ts') },
  { name: 'org', about: 'Create and list organisations', load: () => import('./commands/org.ts') },
  { name: 'member', about: 'Add and list members', load: () => import('./commands/member.ts') },
  {
    name: 'invitation',
    about: 'Accept and list invitations',
    load: () => import('./commands/invitation.ts'),
  },
  {
    name: 'sign-in-link',
    about: 'Create a link that signs a member in to the dashboard',
    load: () => import('./commands/sign-in-link.ts'),
  },
  { name: 'key', about: 'Create, list, rotate and revoke API keys', load: () => import('./commands/key.ts') },
  { name: 'workflow', about: 'Share and list workflows', load: () => import('./commands/workflow.ts') },
  {
    name: 'row',
    about: 'List rows of a sheet, sorted or by a view',
    load: () => import('./commands/row.ts'),
  },
  {
    name: 'webhook',
    about: 'Receive rows from other systems by webhook',
    load: () => import('./commands/webhook.ts'),
  },
  { name: 'schedule', about: 'Run sheets on a schedule', load: () => import('./commands/schedule.ts') },
  {
    name: 'shortcut',
    about: 'Publish, share and run shortcuts',
    load: () => import('./commands/shortcut.ts'),
  },
  {
    name: 'source',
    about: 'Preview, create and manage sources of records',
    load: () => import('./commands/source.ts'),
  },
  { name: 'file', about: 'Upload files to import', load: () => import('./commands/file.ts') },
  {
    name: 'connection',
    about: 'Connect providers with your own keys',
    load: () => import('./commands/connection.ts'),
  },
  {
    name: 'provider',
    about: 'Show results of providers, and check their replies',
    load: () => import('./commands/provider.ts'),
  },
  {
    name: 'records',
    about: 'Import, read, merge and erase companies, people and contacts',
    load: () => import('./commands/records.ts'),
  },
  {
    name: 'segment',
    about: 'Save filters over records, list and explain their members',
    load: () => import('./commands/segment.ts'),
  },
  {
    name: 'secret',
    about: 'Show what LOAM_SECRET encrypts, and encrypt it again after a change',
    load: () => import('./commands/secret.ts'),
  },
  { name: 'env', about: 'Set and list environment variables', load: () => import('./commands/env.ts') },
  { name: 'actions', about: 'List and show the actions', load: () => import('./commands/actions.ts') },
  {
    name: 'credits',
    about: 'Grant credits, show balance and ledger',
    load: () => import('./commands/credits.ts'),
  },
  {
    name: 'budget',
    about: 'Limit spending and get alerts',
    load: () => import('./commands/budget.ts'),
  },
  { name: 'estimate', about: 'Estimate the cost of a run', load: () => import('./commands/estimate.ts') },
  { name: 'prices', about: 'List and set prices of actions', load: () => import('./commands/prices.ts') },
  { name: 'pull', about: 'Write workflows as files', load: () => import('./commands/pull.ts') },
  {
    name: 'diff',
    about: 'Compare workflow files with the server',
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'apply',
    about: 'Change workflows to what their files say',
    load: () => import('./commands/apply.ts'),
  },
  {
    name: 'schema',
    about: 'Print the JSON Schema of workflow files',
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'backup',
    about: 'Write everything into one archive, while the server runs',
    load: () => import('./commands/backup.ts'),
  },
  {
    name: 'restore',
    about: 'Restore an archive into an empty data folder or database',
    load: () => import('./commands/restore.ts'),
  },
  {
    name: 'doctor',
    about: 'Check settings, database and environment',
    load: () => import('./commands/doctor.ts'),
  },
]

const EXIT_CODES = `
Exit codes:
  0  done
  1  failed
  2  bad input or usage
  3  not found
  4  conflict: the object exists or has ended already
  5  the database or the server cannot be reached, or the data folder is busy
  6  the API key is missing, wrong or not allowed to
  7  a limit, or too few credits
  9  loam diff --exit-code: there are differences

Examples:
  $ loam serve
  $ loam key create --email ann@example.com --scopes workflows:read,workflows:run
  $ loam key list --json`

/** Runs the `loam` process. */
export async function main(): Promise<void> {
  exitQuietlyOnClosedPipe()
  await run(process.argv.slice(2), process)
}

/** Runs one command line (without the name of the program) and sets the exit code. */
export async function run(args: string[], terminal: Terminal): Promise<void> {
  const program = createProgram(terminal)
  try {
    await program.parseAsync(withHelpAsFlag(args), { from: 'user' })
  } catch (cause) {
    terminal.exitCode = await report(cause, terminal, wantsJson(program))
  }
}

/**
 * A command that reports an unknown option before a missing one, because the unknown one may be the missing
 * one misspelled.
 */
class NamingCommand extends Command {
  #unknown: string | undefined

  override createCommand(name?: string): Command {
    return new NamingCommand(name)
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(args)
    this.#unknown = parsed.unknown[0]
    return parsed
  }

  /** Overrides the method that commander calls when a required option is missing, which it checks first. */
  missingMandatoryOptionValue(option: Option): never {
    const { unknownOption, missingMandatoryOptionValue }: Reports = Command.prototype as unknown as Reports
    if (this.#unknown?.startsWith('-') === true) unknownOption.call(this, this.#unknown)
    return missingMandatoryOptionValue.call(this, option) as never
  }
}

/** The methods of commander that report an error, which its types do not declare. */
type Reports = {
  unknownOption: (this: Command, flag: string) => void
  missingMandatoryOptionValue: (this: Command, option: Option) => void
}

function createProgram(terminal: Terminal): Command {
  const program = new NamingCommand('loam')
  attachTerminal(program, terminal)
  program
    .description(
      'Loam: workflow data enrichment. Commands for operators, on the same database as the server.',
    )
    .version(readVersion())
    .option('--json', 'answer in JSON, for programs')
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => colors.bold(title) })
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => {
        if (!wantsJson(program)) terminal.stderr.write(text)
      },
    })
    .exitOverride()
    .addHelpText('after', EXIT_CODES)
  for (const { name, about } of GROUPS) program.command(name).description(about)
  program.hook('preSubcommand', async (_program, command) => {
    const group = GROUPS.find(({ name }) => name === command.name())
    if (group !== undefined) (await group.load()).define(command)
  })
  return program
}

/** Turns `help key` into `key --help`: commander answers the former itself, before the group is loaded. */
function withHelpAsFlag(args: string[]): string[] {
  return args[0] === 'help' && args.length > 1 ? [...args.slice(1), '--help'] : args
}

function wantsJson(program: Command): boolean {
  return program.opts<{ json?: true }>().json === true
}

async function report(cause: unknown, terminal: Terminal, json: boolean): Promise<number> {
  if (!(cause instanceof CommanderError)) {
    const { describeFailure } = await import('./diagnosis.ts')
    return printFailure(describeFailure(cause), terminal, json)
  }
  if (cause.exitCode === 0) return 0
  const helpShown = cause.code === 'commander.help'
  if (helpShown && !json) return EXIT.usage
  const message = helpShown
    ? 'the command is missing; see loam --help'
    : cause.message.replace(/^error: /, '')
  return printFailure({ exit: EXIT.usage, error: 'Usage Error', message }, terminal, json)
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown'
}

/**
 * Exits quietly if the reader of stdout closes the pipe early, as in `loam key list | head -1`; that is no
 * failure.
 */
function exitQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE') throw cause
    process.exit()
  })
}
