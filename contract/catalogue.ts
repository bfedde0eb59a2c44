import { z } from 'zod'
import { InputDescriptor, OUTPUT_TYPES } from './actions.ts'
import { Credits } from './numbers.ts'

const MAX_SEARCH = 200

export const CatalogueQuery = z.strictObject({
  search: z
    .string()
    .max(MAX_SEARCH)
    .exactOptional()
    .describe('Words of names, synonyms, providers or descriptions; the best match comes first'),
})

const CatalogueInput = InputDescriptor.extend({
  options: z.array(z.string()).exactOptional().describe('The allowed values, where they are fixed'),
  option_labels: z.array(z.string()).exactOptional().describe('The names of `options` on the screen'),
  providers: z
    .array(z.string())
    .exactOptional()
    .describe('The providers that can be asked, in their default order'),
})

/** An action of the catalogue, as the list shows it. */
export const CatalogueEntry = z
  .object({
    action_id: z.string().describe('The id that Add Action takes'),
    name: z.string(),
    category: z.string(),
    credits: Credits.describe('The own price of the action for a completed cell, without its providers'),
    provider_credits: z
      .object({ min: z.number(), max: z.number() })
      .exactOptional()
      .describe('The price of one answer from its cheapest and from its most expensive provider'),
    price: z
      .object({ min: z.number(), max: z.number() })
      .describe(
        'The total price of an answer: `credits` plus the price of the cheapest or the most expensive provider',
      ),
    needs_key: z.boolean().describe('True if it runs only with a connection or a provider key'),
    has_key: z
      .boolean()
      .describe('True if it can run here: it needs no key, or one of yours or of the installation is there'),
    pure: z.boolean().describe('True if its result depends on its inputs only, which costs nothing'),
    description: z.string(),
    synonyms: z.array(z.string()).describe('Other words that find it'),
    providers: z.array(z.string()).describe('The names of the providers that it can ask'),
    inputs: z.array(CatalogueInput),
    needs: z.array(z.array(z.string())).describe('Sets of inputs; one set must be filled'),
  })
  .meta({ id: 'CatalogueEntry' })
export type CatalogueEntry = z.infer<typeof CatalogueEntry>

export const CatalogueAction = CatalogueEntry.extend({
  timeout_seconds: z.number(),
  retries: z.number(),
  outputs: z.array(
    z.object({
      name: z.string(),
      type: z.enum(OUTPUT_TYPES),
      description: z.string(),
      columns: z
        .record(z.string(), z.enum(OUTPUT_TYPES))
        .exactOptional()
        .describe('Types of the columns of a structured_array, where they are known'),
    }),
  ),
  dynamic_outputs: z.boolean().describe('True if further outputs depend on its configuration or its runs'),
}).meta({ id: 'CatalogueAction' })
export type CatalogueAction = z.infer<typeof CatalogueAction>
