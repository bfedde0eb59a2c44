import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'lookup_rows_in_sheet',
  name: 'Look up rows in sheet',
  description: 'Finds rows of another sheet by their values.',
  category: 'data',
  synonyms: ['vlookup', 'xlookup', 'join', 'match', 'find rows'],
  credits: 0,
  inputs: {
    target_sheet_id: field.dropdown({
      required: true,
      from: 'sheets',
      label: 'Sheet',
      help: 'The sheet to search.',
    }),
    conditions: field.targetConditions({
      sheet: 'target_sheet_id',
      required: true,
      label: 'Conditions',
      help: 'What the rows of that sheet must meet.',
      details: 'Variables are tokens of that sheet; values may hold tokens of this one.',
    }),
    limit: field.number({
      whole: true,
      min: 1,
      max: 100,
      default: 10,
      label: 'Most rows',
      help: 'The list ends after this many.',
      placeholder: '10',
      details: 'Default 10.',
      advanced: true,
    }),
    order: field.choice(['oldest', 'newest'], {
      default: 'oldest',
      label: 'Order',
      help: 'Which rows come first.',
      details: 'Default oldest.',
      advanced: true,
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
