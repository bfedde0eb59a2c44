import { z } from 'zod'
import { InputDescriptor, OUTPUT_TYPES } from './actions.ts'

/** An action that a chain can be made of, as the list shows it. */
export const CatalogueEntry = z
  .object({
    action_id: z.string().describe('What Add Action takes'),
    name: z.string(),
    category: z.string(),
    credits: z.number().describe('For a cell that completes, beside what its providers take'),
    provider_credits: z
      .object({ min: z.number(), max: z.number() })
      .exactOptional()
      .describe('What one answer of its cheapest and of its dearest provider costs'),
    price: z
      .object({ min: z.number(), max: z.number() })
      .describe(
        'What an answer costs in all: `credits`, and those of the cheapest and of the dearest provider',
      ),
    needs_key: z.boolean().describe('Whether it runs only with a connection, or a key of a provider'),
    description: z.string(),
  })
  .meta({ id: 'CatalogueEntry' })
export type CatalogueEntry = z.infer<typeof CatalogueEntry>

export const CatalogueAction = CatalogueEntry.extend({
  timeout_seconds: z.number(),
  retries: z.number(),
  inputs: z.array(
    InputDescriptor.extend({
      options: z.array(z.string()).exactOptional().describe('What may be chosen, where that is fixed'),
      providers: z.array(z.string()).exactOptional().describe('Who may be asked, first of all by default'),
    }),
  ),
  needs: z.array(z.array(z.string())).describe('Sets of inputs, of which one must be filled'),
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
  dynamic_outputs: z.boolean().describe('Whether further outputs depend on its configuration or its runs'),
}).meta({ id: 'CatalogueAction' })
export type CatalogueAction = z.infer<typeof CatalogueAction>
