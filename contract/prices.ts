import { z } from 'zod'
import { DateTime } from './envelope.ts'
import { wholeNumber } from './numbers.ts'

/** Credits with at most three decimals (D22). */
const Credits = z.number()

export const MAX_PRICE_VERSION = 2_147_483_647

export const PricesQuery = z.object({
  version: wholeNumber(1, MAX_PRICE_VERSION).optional().describe('An earlier list; the latest by default'),
})

const ProviderPrice = z.object({
  field: z.string().describe('The input of the action that lists it'),
  provider: z.string(),
  credits: Credits.describe('For an answer, on the key of the installation'),
  miss_credits: Credits,
  supports_own_key: z.boolean(),
})

/** What everything costs: all that a version says. */
export const Prices = z.object({
  actions: z.array(
    z.object({
      action_id: z.string(),
      credits: Credits.describe("The action's own price, beside what providers take"),
      providers: z.array(ProviderPrice),
    }),
  ),
  agent: z.object({ credits: Credits }),
})
export type Prices = z.infer<typeof Prices>

export const PriceList = z
  .object({ version: z.int(), effective_at: DateTime, ...Prices.shape })
  .meta({ id: 'PriceList' })

/** A price that the operator set: of an action, or of a provider in one of its fields (null: in all that list it). */
export type PriceChange = {
  action: string
  provider: string | null
  field: string | null
  credits: number
  missCredits: number | null
}
