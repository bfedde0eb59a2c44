import type { FieldTexts } from '../fields/field.ts'
import { field } from '../fields/fields.ts'
import type { ConfiguredWaterfall, WaterfallOrder } from '../fields/waterfall-field.ts'
import type { Adapter } from '../provider/adapter.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import type { CellContext } from '../provider/context.ts'

type Reader<Profile> = Adapter<{ linkedin_url: string }, Profile>
type Given<Profile> = {
  inputs: {
    linkedin_url: string
    providers: ConfiguredWaterfall<Reader<Profile>>
    order: WaterfallOrder | undefined
  }
  context: CellContext
}

/**
 * Returns the shared part of the actions that read a LinkedIn page: its address, its readers, and the profile as
 * outputs.
 */
export function linkedinProfile<Profile extends object>(
  adapters: readonly Reader<Profile>[],
  options: { address: FieldTexts },
) {
  return {
    credits: 0,
    timeoutSeconds: 240,
    inputs: {
      linkedin_url: field.text({ type: 'url', required: true, ...options.address }),
      providers: field.waterfall({
        adapters,
        label: 'Providers',
        help: 'Asked in order until one has an answer.',
      }),
      order: field.waterfallOrder,
    },
    run: ({ inputs: { linkedin_url, providers, order }, context }: Given<Profile>) =>
      askInOrder({ ...providers, order }, { linkedin_url: linkedin_url.trim() }, context, {
        read: ({ value, provider }) => ({
          ...value,
          provider,
        }),
      }),
  }
}
