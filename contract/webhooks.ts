import { z } from 'zod'
import { DateTime } from './envelope.ts'
import { MAX_ROWS_PER_ADD } from './rows.ts'

export const MAX_ITEMS_PER_DELIVERY = MAX_ROWS_PER_ADD

export const WebhookDelivery = z
  .object({
    at: DateTime,
    status: z.int().describe('The HTTP status sent to the caller'),
    webhook_id: z.string().nullable().describe('The delivery id given by the sender'),
    accepted: z.int().describe('Rows added'),
    rejected: z.int().describe('Items rejected'),
    reason: z.string().nullable().describe('Why items were rejected, or that the delivery was a repeat'),
    body: z.string().describe('The beginning of the request body'),
  })
  .meta({ id: 'WebhookDelivery' })
