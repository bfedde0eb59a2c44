import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'auto_dedupe_rows',
  name: 'Dedupe rows',
  description:
    'Tells the first row with certain values from later ones with the same. A row with none is unique.',
  category: 'flow',
  credits: 0,
  inputs: {
    auto_dedupe_columns: field.columns({
      required: true,
      description: 'The columns that are compared together: tokens or names of inputs.',
    }),
    select_dedupe_action: field.choice(['mark_as_duplicate', 'delete_duplicate'], {
      default: 'mark_as_duplicate',
      description: 'What happens to a duplicate. Default mark_as_duplicate.',
    }),
    ignore_case: field.toggle({ description: 'Compare without regard to upper and lower case.' }),
  },
  outputs: { value_type: output.text('unique or duplicate.') },
  async run({ inputs, context }) {
    const texts = inputs.auto_dedupe_columns.map((text) => (inputs.ignore_case ? text.toLowerCase() : text))
    if (texts.every((text) => text === '')) return done({ value_type: 'unique' })
    const value_type = await context.sheets.claimUnique(JSON.stringify(texts))
    const removes = inputs.select_dedupe_action === 'delete_duplicate'
    if (removes && value_type === 'duplicate') await context.sheets.deleteThisRow()
    return done({ value_type })
  },
})
