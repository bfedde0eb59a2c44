import type { Command } from 'commander'
import { z } from 'zod'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { recordPrices, resetPrices, setPrice } from '#server/money/prices.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import type { PriceVersion } from '#server/money/store/price-versions.ts'
import { Amount, examples } from '../flags.ts'
import { type CommandOutput, formatTable, formatTime } from '../output.ts'
import { inSession } from '../session.ts'

const Action = z.string().trim().min(1, 'must not be empty')

const SetFlags = z.strictObject({
  action: Action,
  provider: z.string().trim().min(1, 'must not be empty').optional(),
  field: z.string().trim().min(1, 'must not be empty').optional(),
  credits: Amount,
  missCredits: Amount.optional(),
})

export function define(prices: Command): void {
  prices.addHelpText(
    'after',
    examples('loam prices list', 'loam prices set --action ai_generate --credits 0.5', 'loam prices reset'),
  )

  prices
    .command('list')
    .description('List the prices of actions and providers, and since when they apply')
    .option('--action <action_id>', 'only this action')
    .addHelpText('after', examples('loam prices list --action verify_email', 'loam prices list --json'))
    .action(
      inSession(z.strictObject({ action: Action.optional() }), async ({ db }, { action }) =>
        formatPrices(await recordPrices(db, await loadCatalogue()), action),
      ),
    )

  prices
    .command('set')
    .description('Set a price for runs queued from now on; runs already queued keep their prices')
    .requiredOption('--action <action_id>', 'as loam actions lists it; agent for the web agent')
    .option('--provider <name>', 'the price of this provider, if the action asks several')
    .option('--field <name>', 'only in this field of the action, if several list the provider')
    .requiredOption(
      '--credits <credits>',
      'price of a cell, or of an answer of the provider; up to 3 decimals',
    )
    .option('--miss-credits <credits>', 'price if the provider has no answer')
    .addHelpText(
      'after',
      examples(
        'loam prices set --action ai_generate --credits 0.5',
        'loam prices set --action verify_email --provider Hunter --credits 0.3 --miss-credits 0.1',
      ),
    )
    .action(
      inSession(SetFlags, async ({ db }, { credits, missCredits, ...setting }) => {
        const price = { credits: credits / MILLIS, missCredits: toCredits(missCredits) }
        return formatPrices(
          await setPrice(db, await loadCatalogue(), { ...setting, ...price }),
          setting.action,
        )
      }),
    )

  prices
    .command('reset')
    .description('Go back to the prices of the catalogue')
    .option('--action <action_id>', 'only of this action')
    .addHelpText('after', examples('loam prices reset', 'loam prices reset --action ai_generate'))
    .action(
      inSession(z.strictObject({ action: Action.optional() }), async ({ db }, { action }) =>
        formatPrices(await resetPrices(db, await loadCatalogue(), action), action),
      ),
    )
}

const toCredits = (millis: number | undefined): number | undefined =>
  millis === undefined ? undefined : millis / MILLIS

function formatPrices(
  { version, effective_at, prices }: PriceVersion,
  action: string | undefined,
): CommandOutput {
  const actions = prices.actions.filter(({ action_id }) => action === undefined || action_id === action)
  const data = { version, effective_at, actions, agent: prices.agent }
  const agent =
    action === undefined || action === 'agent' ? [['agent', '', String(prices.agent.credits), '']] : []
  const rows = actions.flatMap(({ action_id, credits, providers }) => [
    ...(credits > 0 || providers.length === 0 ? [[action_id, '', String(credits), '']] : []),
    ...providers.map((one) => [
      action_id,
      `${one.provider} (${one.field})`,
      String(one.credits),
      String(one.miss_credits),
    ]),
  ])
  return {
    data,
    text: () =>
      [
        `Version ${version}, since ${formatTime(effective_at)}.`,
        formatTable(['ACTION', 'PROVIDER', 'CREDITS', 'FOR A MISS'], [...rows, ...agent], 'No prices.'),
      ].join('\n\n'),
  }
}
