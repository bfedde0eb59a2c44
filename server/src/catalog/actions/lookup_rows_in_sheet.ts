import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'lookup_rows_in_sheet',
  name: 'Look up rows in sheet',
  description: 'Finds rows of another sheet by their inputs and outputs.',
  category: 'data',
  credits: 0,
  inputs: {
    target_sheet_id: field.dropdown({ required: true, from: 'sheets', description: 'The sheet to search.' }),
    conditions: field.targetConditions({
      sheet: 'target_sheet_id',
      required: true,
      description:
        'The conditions on the rows. Variables are tokens of that sheet, values may contain tokens of this one.',
    }),
    limit: field.number({
      whole: true,
      min: 1,
      max: 100,
      default: 10,
      description: 'The maximum number of records. Default 10.',
    }),
    order: field.choice(['oldest', 'newest'], {
      default: 'oldest',
      description: 'Which come first. Default oldest.',
    }),
  },
  outputs: {
    found: output.boolean('True if any row was found.'),
    count: output.number('The number of rows that meet the conditions.'),
    records: output.table('The rows found, up to the limit.'),
  },
  async run({ inputs, context }) {
    const answer = await context.sheets.lookup({
      targetSheetId: inputs.target_sheet_id,
      conditions: inputs.conditions,
      limit: inputs.limit ?? 10,
      order: inputs.order ?? 'oldest',
    })
    if (!answer.ok) return failed(answer.message)
    const { count, records } = answer.value
    return done({ found: count > 0, count, records })
  },
})
