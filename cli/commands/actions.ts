import type { Command } from 'commander'
import { z } from 'zod'
import { searchCatalogue } from '#contract/catalogue-search.ts'
import { type CatalogueEntry, CatalogueQuery } from '#contract/catalogue.ts'
import {
  listChoices,
  viewAction,
  viewEntry,
  priceOf,
  requireTemplate,
} from '#server/catalog/catalogue-entry.ts'
import type { Action } from '#server/catalog/define.ts'
import { describeInputs } from '#server/catalog/describe.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { findNearest } from '#server/lib/nearest-name.ts'
import { defineTest } from '../action-test.ts'
import { examples, readFlags } from '../flags.ts'
import { colors, formatDetails, formatTable, printOutput } from '../output.ts'
import { wantsJson } from '../session.ts'
import { terminalOf } from '../terminal.ts'

export function define(actions: Command): void {
  actions.addHelpText(
    'after',
    examples('loam actions', 'loam actions --search linkedin', 'loam actions show http_api_call'),
  )

  actions
    .command('list', { isDefault: true })
    .description('List the actions that a chain can use')
    .option('--search <words>', 'only those with these words in name, synonyms, providers or description')
    .allowExcessArguments()
    .addHelpText('after', examples('loam actions', 'loam actions --search hunter', 'loam actions --json'))
    .action(async function act(this: Command) {
      requireNoCommand(this)
      const { search = '' } = readFlags(this, CatalogueQuery)
      const catalogue = await loadCatalogue()
      const found = searchCatalogue(catalogue.list().map(viewEntry), search)
      printOutput({ data: found, text: () => formatList(found) }, terminalOf(this), wantsJson(this))
    })

  actions
    .command('show')
    .argument('<action_id>', 'as loam actions lists it')
    .description('Show the inputs and outputs of an action')
    .addHelpText('after', examples('loam actions show http_api_call', 'loam actions show filter --json'))
    .action(async function act(this: Command) {
      const { action_id } = readFlags(this, z.strictObject({ action_id: z.string() }))
      const action = requireTemplate(await loadCatalogue(), action_id, 'loam actions lists them')
      const output = { data: viewAction(action), text: () => formatAction(action) }
      printOutput(output, terminalOf(this), wantsJson(this))
    })

  defineTest(actions.command('test'))
}

/** Refuses an unknown word after `loam actions`: commander passes it to the default command. */
function requireNoCommand(list: Command): void {
  const [given] = list.args
  if (given === undefined) return
  const meant = findNearest(given, ['list', 'show', 'test'])
  list.error(`error: unknown command '${given}'${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`)
}

function formatList(entries: Pick<CatalogueEntry, 'action_id' | 'name' | 'category' | 'price'>[]): string {
  const rows = entries.map(({ action_id, name, category, price }) => [
    action_id,
    name,
    category,
    formatPrice(price),
  ])
  return formatTable(['ACTION', 'NAME', 'CATEGORY', 'CREDITS'], rows, 'No actions.')
}

/** Prints the price, or the range from the cheapest to the dearest provider. */
function formatPrice({ min, max }: CatalogueEntry['price']): string {
  return min === max ? String(min) : `${min} to ${max}`
}

function formatAction(action: Action): string {
  const inputs = describeInputs(action).map(({ name, type, required, description }) => {
    const { options, providers } = listChoices(action.inputs[name])
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
      ['credits', formatPrice(priceOf(action))],
      ...(needs === '' ? [] : [['needs', needs] satisfies [string, string]]),
    ]),
    formatTable(['INPUT (* required)', 'TYPE', ''], inputs, 'No inputs.'),
    formatTable(['OUTPUT', 'TYPE', ''], outputs, action.dynamic ? '' : 'No outputs.'),
    ...(action.dynamic ? [colors.dim('Further outputs are known after the first run.')] : []),
  ].join('\n\n')
}
