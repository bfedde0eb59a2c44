import type { Command } from 'commander'
import { z } from 'zod'
import type { Action } from '#server/catalog/define.ts'
import { describeInputs } from '#server/catalog/describe.ts'
import type { Field } from '#server/catalog/fields/field.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { notFound } from '#server/lib/errors.ts'
import { examples, readFlags } from '../flags.ts'
import { colors, formatDetails, formatTable, printOutput } from '../output.ts'
import { wantsJson } from '../session.ts'
import { terminalOf } from '../terminal.ts'

export function define(actions: Command): void {
  actions.addHelpText(
    'after',
    examples('loam actions', 'loam actions show http_api_call', 'loam actions list --json'),
  )

  actions
    .command('list', { isDefault: true })
    .description('List the actions that a chain can be made of')
    .addHelpText('after', examples('loam actions', 'loam actions --json'))
    .action(async function act(this: Command) {
      const all = (await loadCatalogue()).list()
      const data = all.map(({ id, name, category, credits, description }) => ({
        action_id: id,
        name,
        category,
        credits,
        description,
      }))
      printOutput({ data, text: () => formatList(all) }, terminalOf(this), wantsJson(this))
    })

  actions
    .command('show')
    .argument('<action_id>', 'as loam actions lists it')
    .description('Show the inputs and outputs of an action')
    .addHelpText('after', examples('loam actions show http_api_call', 'loam actions show filter --json'))
    .action(async function act(this: Command) {
      const { action_id } = readFlags(this, z.strictObject({ action_id: z.string() }))
      const action = (await loadCatalogue()).get(action_id)
      if (action === undefined) throw notFound(`Action ${action_id}`)
      const output = { data: detailsOf(action), text: () => formatAction(action) }
      printOutput(output, terminalOf(this), wantsJson(this))
    })
}

function formatList(actions: Action[]): string {
  const rows = actions.map(({ id, name, category, credits }) => [id, name, category, String(credits)])
  return formatTable(['ACTION', 'NAME', 'CATEGORY', 'CREDITS'], rows, 'No actions.')
}

function detailsOf(action: Action): object {
  const { id, name, description, category, credits, timeoutSeconds, retries, needs, dynamic } = action
  return {
    action_id: id,
    name,
    description,
    category,
    credits,
    timeout_seconds: timeoutSeconds,
    retries,
    inputs: describeInputs(action).map((input) => ({ ...input, ...choicesOf(action.inputs[input.name]) })),
    needs,
    outputs: Object.entries(action.outputs).map(([name, { type, description, columns }]) => ({
      name,
      type,
      description,
      ...(columns === undefined ? {} : { columns }),
    })),
    dynamic_outputs: dynamic,
  }
}

/** What may be chosen, where the definition knows it. */
function choicesOf(field: Field | undefined): { options?: string[]; providers?: string[] } {
  if (field?.waterfall !== undefined) return { providers: field.waterfall.providers.map(({ name }) => name) }
  return field?.options !== undefined && 'fixed' in field.options
    ? { options: field.options.fixed.map(({ value }) => value) }
    : {}
}

function formatAction(action: Action): string {
  const inputs = describeInputs(action).map(({ name, type, required, description }) => {
    const { options, providers } = choicesOf(action.inputs[name])
    const choices = (options ?? providers)?.join(', ')
    const words = choices === undefined ? description : `${description} (${choices})`
    return [required ? `${name} *` : name, type, words]
  })
  const outputs = Object.entries(action.outputs).map(([name, { type, description }]) => [
    name,
    type,
    description,
  ])
  const needs = action.needs.map((set) => set.join(' and ')).join(', or ')
  return [
    formatDetails(`${colors.bold(action.id)}  ${action.description}`, [
      ['name', action.name],
      ['category', action.category],
      ['credits', String(action.credits)],
      ...(needs === '' ? [] : [['needs', needs] satisfies [string, string]]),
    ]),
    formatTable(['INPUT (* required)', 'TYPE', ''], inputs, 'No inputs.'),
    formatTable(['OUTPUT', 'TYPE', ''], outputs, action.dynamic ? '' : 'No outputs.'),
    ...(action.dynamic ? [colors.dim('What it gives beyond that is known after its first run.')] : []),
  ].join('\n\n')
}
