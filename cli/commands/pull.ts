import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { AppError, validationError } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import type { Loam } from '../../sdk/src/index.ts'
import { examples } from '../flags.ts'
import type { CommandOutput } from '../output.ts'
import { onServer, type Remote } from '../remote/action.ts'
import { addTarget } from '../remote/target.ts'
import { FOLDER } from '../remote/workflow-file.ts'

const FORMATS = ['yaml', 'json'] as const
const Flags = z.strictObject({
  url: z.string().optional(),
  key: z.string().optional(),
  workflows: z.string().optional(),
  dir: z.string().min(1, 'must not be empty').default(FOLDER),
  format: z.enum(FORMATS, `must be one of: ${FORMATS.join(', ')}`).default('yaml'),
  yes: z.boolean().optional(),
})
type PullFlags = z.infer<typeof Flags>
type Named = { workflow_id: string; name: string }
type Written = { file: string; workflow: string; text: string; state: 'new' | 'changed' | 'same' }

export function define(pull: Command): void {
  addTarget(pull)
    .description('Write workflows as files, one each, the same bytes every time')
    .argument('[workflows...]', 'names or ids; all by default')
    .option('--dir <folder>', 'folder of the files; workflows by default')
    .option('--format <format>', 'yaml or json; yaml by default')
    .option('--yes', 'replace files that differ')
    .addHelpText('after', examples('loam pull', 'loam pull Leads --dir flows --format json'))
    .action(onServer(Flags, pullWorkflows))
}

async function pullWorkflows({ loam, flags, names, terminal }: Remote<PullFlags>): Promise<CommandOutput> {
  const files: Written[] = []
  const taken = new Set<string>()
  for (const { workflow_id, name } of await findWorkflows(loam, names)) {
    const definition = await loam.workflows.definition(workflow_id)
    for (const { field, message } of definition.warnings) {
      terminal.stderr.write(`loam: ${name}: ${field}: ${message}\n`)
    }
    files.push(compose(definition.workflow, definition, { flags, taken }))
  }
  const differing = files.filter(({ state }) => state === 'changed')
  if (differing.length > 0 && flags.yes !== true) {
    throw validationError(
      differing.map(({ file }) => ({ field: file, message: 'differs from the server: --yes replaces it' })),
    )
  }
  if (files.length > 0) mkdirSync(flags.dir, { recursive: true })
  for (const { file, text, state } of files) if (state !== 'same') writeFileSync(file, text)
  return {
    data: { files: files.map(({ text: _text, ...rest }) => rest) },
    text: () => files.map(({ file, state }) => `${file} (${state})`).join('\n') || 'There are no workflows.',
  }
}

/** Finds workflows by name or id, all of them if none is named, in the order of their names. */
async function findWorkflows(loam: Loam, names: string[]): Promise<Named[]> {
  const all = (await loam.workflows.list()).toSorted(
    (a, b) => compare(a.name, b.name) || compare(a.created_at, b.created_at),
  )
  if (names.length === 0) return all
  return names.map((given) => {
    const found = all.filter(({ workflow_id, name }) => (isUuid(given) ? workflow_id : name) === given)
    const [first, second] = found
    if (first === undefined) throw new AppError('Not Found', `There is no workflow ${given}`)
    if (second === undefined) return first
    const ids = found.map(({ workflow_id }) => workflow_id).join(', ')
    throw validationError([{ field: given, message: `is the name of several workflows: name one of ${ids}` }])
  })
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

type Place = { flags: PullFlags; taken: Set<string> }

function compose(workflow: string, definition: object, { flags, taken }: Place): Written {
  const slug = toSlug(workflow)
  let name = slug
  for (let n = 2; taken.has(name); n += 1) name = `${slug}-${n}`
  taken.add(name)
  const file = join(flags.dir, `${name}.${flags.format}`)
  const text =
    flags.format === 'json'
      ? `${JSON.stringify(definition, null, 2)}\n`
      : stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false })
  if (!existsSync(file)) return { file, workflow, text, state: 'new' }
  return { file, workflow, text, state: readFileSync(file, 'utf8') === text ? 'same' : 'changed' }
}

const toSlug = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 80) || 'workflow'
