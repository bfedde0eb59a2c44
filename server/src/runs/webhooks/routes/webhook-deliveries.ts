import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { WebhookDelivery } from '#contract/webhooks.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { SheetParams, sheetOfPath } from '../../../sheets/routes/workflows/resources.ts'
import { listDeliveries } from '../store/webhook-deliveries.ts'

/**
 * Adds the endpoint that lists the latest deliveries to a sheet's webhook, which the specification's tables do not
 * contain.
 */
export function webhookDeliveryRoutes(api: Api): void {
  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/webhook/deliveries',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Webhooks'],
        summary: 'List the latest deliveries to the webhook of a sheet, newest first',
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
