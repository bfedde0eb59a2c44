import { z } from 'zod'
import { DateTime } from './envelope.ts'
import { MAX_ROWS_PER_ADD } from './rows.ts'

export const MAX_ITEMS_PER_DELIVERY = MAX_ROWS_PER_ADD

export const WebhookDelivery = z
  .object({
    at: DateTime,
    status: z.int().describe('What the sender was answered'),
    webhook_id: z.string().nullable().describe('The id that the sender gave to the delivery'),
    accepted: z.int().describe('Rows that it became'),
    rejected: z.int().describe('Items that were not taken'),
    reason: z
      .string()
      .nullable()
      .describe('Why anything was refused, or that the delivery was a repeated one'),
    body: z.string().describe('The beginning of what was sent'),
  })
  .meta({ id: 'WebhookDelivery' })
