import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { expandedList, itemMapping } from '../fields/item-mapping.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'send_to_sheet',
  name: 'Send to sheet',
  description: 'Adds a row to another sheet, or one for each item of a list.',
  category: 'flow',
  synonyms: ['add row', 'copy', 'split list', 'one row per item', 'write to sheet', 'expand'],
  credits: 0,
  inputs: {
    target_sheet_id: field.dropdown({
      required: true,
      from: 'sheets',
      label: 'Sheet',
      help: 'The sheet that receives the rows.',
    }),
    field_mapping: itemMapping({
      sheet: 'target_sheet_id',
      required: true,
      label: 'Columns',
      help: 'The columns of that sheet and the values to write.',
      details: '{name, value} with inputs of the target sheet.',
    }),
    expand_from: expandedList({
      label: 'One row per item of',
      help: 'A list column. Each item becomes a row.',
      details: 'In its rows, tokens of its columns stand for the item.',
      advanced: true,
    }),
  },
  outputs: {
    rows_created: output.number('The number of added rows.'),
    row_ids: output.list('Their ids, in order.'),
  },
  async run({ inputs: { target_sheet_id, field_mapping, expand_from }, context }) {
    const rows = expand_from
      ? expand_from.items.map((item) => field_mapping.rowFor({ list: expand_from.list, item }))
      : [field_mapping.rowFor()]
    if (rows.length === 0) return done({ rows_created: 0, row_ids: [] })
    const answer = await context.sheets.append(target_sheet_id, rows)
    return answer.ok
      ? done({ rows_created: answer.value.length, row_ids: answer.value })
      : failed(answer.message)
  },
})
