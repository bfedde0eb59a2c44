import type { Command } from 'commander'
import { z } from 'zod'
import { plural } from '#server/lib/plural.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { KEPT_DELIVERIES, listDeliveries } from '#server/runs/webhooks/store/webhook-deliveries.ts'
import { listWebhooks } from '#server/runs/webhooks/store/webhooks.ts'
import { switchWebhookOff, switchWebhookOn, webhookUrl } from '#server/runs/webhooks/webhooks.ts'
import { CapAmount, examples, Limit } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { serverAddress } from '../server-address.ts'
import { inSession } from '../session.ts'
import { requireSheet, SHEET, SHEET_FLAGS, SHEET_ORG } from '../sheet.ts'

const EnableFlags = z.strictObject({
  ...SHEET_FLAGS,
  rotate: z.literal(true).exactOptional(),
  maxCreditsPerDay: CapAmount.exactOptional(),
})
const DeliveryFlags = z.strictObject({ ...SHEET_FLAGS, limit: Limit(KEPT_DELIVERIES, KEPT_DELIVERIES) })

export function define(webhook: Command): void {
  webhook.addHelpText(
    'after',
    examples('loam webhook enable --sheet <sheet_id>', 'loam webhook deliveries --sheet <sheet_id>'),
  )
  defineEnable(webhook)
  defineDisable(webhook)
  defineDeliveries(webhook)
}

function defineEnable(webhook: Command): void {
  webhook
    .command('enable')
    .description('Give a sheet an address that other systems post rows to')
    .requiredOption(...SHEET)
    .option('--rotate', 'create a new address; the old one stops working')
    .option(
      '--max-credits-per-day <credits>',
      'credit limit a day (UTC) for rows that arrive there, or none (default unchanged)',
    )
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam webhook enable --sheet <sheet_id>',
        'loam webhook enable --sheet <sheet_id> --max-credits-per-day 500',
        'loam webhook enable --sheet <sheet_id> --rotate',
      ),
    )
    .action(
      inSession(EnableFlags, async ({ db, sealer, config }, flags) => {
        const sheet = await requireSheet(db, flags)
        const token = await switchWebhookOn(db, OPERATOR, sealer, {
          sheet,
          rotate: flags.rotate === true,
          capMillis: flags.maxCreditsPerDay,
        })
        const [made] = await listWebhooks(db, sheet.org_id, [sheet.sheet_id])
        const millis = made?.max_credits_millis ?? null
        const cap = millis === null ? null : millis / MILLIS
        const webhook_url = webhookUrl(config.LOAM_PUBLIC_URL ?? serverAddress(config), token)
        return {
          data: {
            sheet_id: sheet.sheet_id,
            webhook_url,
            ...(cap === null ? {} : { max_credits_per_day: cap }),
          },
          text: () =>
            [
              `POST JSON to ${webhook_url}`,
              `Anybody who knows this address can add rows to ${sheet.name}.`,
              ...(cap === null ? [] : [`These rows may cost at most ${plural(cap, 'credit')} a day.`]),
            ].join('\n'),
        }
      }),
    )
}

function defineDisable(webhook: Command): void {
  webhook
    .command('disable')
    .description('Stop accepting rows at the address; enable turns it on again')
    .requiredOption(...SHEET)
    .option(...SHEET_ORG)
    .addHelpText('after', examples('loam webhook disable --sheet <sheet_id>'))
    .action(
      inSession(z.strictObject(SHEET_FLAGS), async ({ db }, flags) => {
        const sheet = await requireSheet(db, flags)
        await switchWebhookOff(db, OPERATOR, sheet)
        return {
          data: { sheet_id: sheet.sheet_id, webhook_url: null },
          text: () => `${sheet.name} no longer accepts rows by webhook.`,
        }
      }),
    )
}

function defineDeliveries(webhook: Command): void {
  webhook
    .command('deliveries')
    .description('List the latest deliveries with their results')
    .requiredOption(...SHEET)
    .option('--limit <number>', `number of deliveries, at most ${KEPT_DELIVERIES}`)
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam webhook deliveries --sheet <sheet_id>',
        'loam webhook deliveries --sheet <sheet_id> --json',
      ),
    )
    .action(
      inSession(DeliveryFlags, async ({ db }, flags) => {
        const deliveries = await listDeliveries(db, await requireSheet(db, flags), flags.limit)
        return {
          data: deliveries,
          text: () =>
            formatTable(
              ['AT', 'STATUS', 'ROWS', 'REJECTED', 'ID', 'REASON', 'BODY'],
              deliveries.map(({ at, status, accepted, rejected, webhook_id, reason, body }) => [
                formatTime(at),
                String(status),
                String(accepted),
                String(rejected),
                webhook_id ?? '-',
                reason ?? '-',
                onOneLine(body),
              ]),
              'No deliveries yet.',
            ),
        }
      }),
    )
}

const SHOWN = 60

function onOneLine(body: string): string {
  const text = body.replaceAll(/\s+/g, ' ')
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text
}
