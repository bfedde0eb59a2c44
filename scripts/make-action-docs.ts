import { writeFile } from 'node:fs/promises'
import type { Action } from '#server/catalog/define.ts'
import type { Field, ProviderOption } from '#server/catalog/fields/field.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'

/** Returns the reference of all actions, as in docs/actions.md. */
export function printActionDocs(actions: Action[]): string {
  const rows = actions.map(({ id, description, ...action }) => [
    `[\`${id}\`](#${id})`,
    description,
    formatCredits(action),
  ])
  const parts = [
    '# Actions',
    'Generated from the definitions by `npm run docs`; change those, not this file.',
    printTable(['action', 'what it does', 'credits'], rows),
    ...actions.map(printAction),
  ]
  return `${parts.join('\n\n')}\n`
}

function printAction(action: Action): string {
  const inputs = Object.entries(action.inputs).map(([name, field]) => [
    field.label,
    `\`${name}\``,
    field.type,
    field.required ? 'yes' : '',
    [field.description, formatChoices(field)].filter((text) => text !== '').join(' '),
  ])
  const outputs = Object.entries(action.outputs).map(([name, { type, description, columns }]) => [
    `\`${name}\``,
    type,
    columns === undefined ? description : `${description} Columns: ${codes(Object.keys(columns))}.`,
  ])
  return [
    `## ${action.id}`,
    `**${action.name}** (${action.category}, ${formatCredits(action)} ${action.credits === 1 ? 'credit' : 'credits'}). ${action.description}`,
    printTable(['field', 'input', 'type', 'required', ''], inputs),
    ...(action.needs.length === 0
      ? []
      : [`Needs ${action.needs.map((set) => codes(set, ' and ')).join(', or ')}.`]),
    ...(outputs.length === 0 ? ['No outputs.'] : [printTable(['output', 'type', ''], outputs)]),
    ...(action.dynamic ? ['Further outputs are known after the first run.'] : []),
  ].join('\n\n')
}

/** Returns the price of an action. Providers in a waterfall have their own prices. */
function formatCredits({ credits, inputs }: Pick<Action, 'credits' | 'inputs'>): string {
  const byProvider = Object.values(inputs).some(({ waterfall }) => waterfall !== undefined)
  return byProvider && credits === 0 ? 'by provider' : String(credits)
}

function formatChoices({ options, waterfall }: Field): string {
  if (waterfall !== undefined) return `Providers: ${waterfall.providers.map(formatProvider).join(', ')}.`
  if (options === undefined) return ''
  return 'fixed' in options
    ? `One of ${codes(options.fixed.map(({ value }) => value))}.`
    : `Choices: the ${options.from} that you can use.`
}

/** Returns the name of a provider with the price of one answer. */
function formatProvider({ name, credits }: ProviderOption): string {
  return credits === undefined ? name : `${name} (${credits})`
}

function codes(names: readonly string[], between = ', '): string {
  return names.map((name) => `\`${name}\``).join(between)
}

function printTable(heads: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

if (import.meta.main) {
  const actions = (await loadCatalogue()).list()
  await writeFile(new URL('../docs/actions.md', import.meta.url), printActionDocs(actions))
}
