import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { WebhookDelivery } from '#contract/webhooks.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { SheetParams, sheetOfPath } from '../../../sheets/routes/workflows/resources.ts'
import { listDeliveries } from '../store/webhook-deliveries.ts'

/** What became of the latest deliveries to a sheet's webhook, beyond the specification's tables. */
export function webhookDeliveryRoutes(api: Api): void {
  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/webhook/deliveries',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Webhooks'],
        summary: 'The latest deliveries to the webhook of the sheet, newest first',
        params: SheetParams,
        response: { 200: success(200, z.array(WebhookDelivery)) },
      },
    },
    async ({ db, sheet }) => {
      const deliveries = await listDeliveries(db, sheet)
      return ok(deliveries.map((delivery) => ({ ...delivery, at: delivery.at.toISOString() })))
    },
  )
}
