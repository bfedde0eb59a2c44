import { z } from 'zod'
import { DateTime } from './envelope.ts'
import { Credits, wholeNumber } from './numbers.ts'

export const MAX_PRICE_VERSION = 2_147_483_647

export const PricesQuery = z.object({
  version: wholeNumber(1, MAX_PRICE_VERSION)
    .optional()
    .describe('The version of the price list; the latest by default'),
})

const ProviderPrice = z.object({
  field: z.string().describe('The action input that lists the provider'),
  provider: z.string(),
  credits: Credits.describe('The price of an answer with the key of the installation'),
  miss_credits: Credits,
  supports_own_key: z.boolean(),
})

/** All prices of one version. */
export const Prices = z.object({
  actions: z.array(
    z.object({
      action_id: z.string(),
      credits: Credits.describe('The own price of the action, without its providers'),
      providers: z.array(ProviderPrice),
    }),
  ),
  agent: z.object({ credits: Credits }),
})
export type Prices = z.infer<typeof Prices>

export const PriceList = z
  .object({ version: z.int(), effective_at: DateTime, ...Prices.shape })
  .meta({ id: 'PriceList' })

/**
 * A price set by the operator, for an action or for one of its providers. A null `field` means every field that lists
 * the provider.
 */
export type PriceChange = {
  action: string
  provider: string | null
  field: string | null
  credits: number
  missCredits: number | null
}
