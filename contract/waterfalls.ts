import { z } from 'zod'
import { Credits } from './numbers.ts'

export const WaterfallQuery = z.object({
  all: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` also lists the providers that can be added, with `listed: false`'),
})

/** The providers that a field really asks, in their order. */
export const Waterfall = z
  .object({
    is_default: z.boolean().describe('Whether the list is the default one because none is configured'),
    providers: z.array(
      z.object({
        provider: z.string(),
        credits: Credits.describe('The price of an answer with the key of the installation'),
        miss_credits: Credits.describe('The price of a miss with the key of the installation'),
        key: z
          .enum(['installation', 'own', 'none'])
          .describe('The key that is used; `none`: it has no key that it needs, and is skipped'),
        asked: z.boolean(),
        listed: z.boolean().optional().describe('Only with `all`: whether the list has it'),
        supports_own_key: z.boolean(),
        hit_rate: z
          .number()
          .nullable()
          .describe('Answers per call over the last 30 days; null if never called'),
        found: z.int().describe('Answers over the last 30 days'),
        median_ms: z.int().nullable().describe('The median time of a call over the last 30 days'),
      }),
    ),
  })
  .meta({ id: 'Waterfall' })
