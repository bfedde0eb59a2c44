import { ignoreEmptyValues, namedValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { googleSheets } from '../providers/google_sheets/provider.ts'
import { appendRow } from '../push/google-sheets-append.ts'
import { isSpreadsheetId, toSpreadsheetId } from '../push/google-sheets.ts'
import { NOTHING_TO_WRITE, readWireValues } from '../push/values.ts'

export default defineAction({
  id: 'google_sheets_append_row',
  name: 'Append Google Sheets row',
  description: 'Appends a row to a Google sheet, by the names of its columns.',
  category: 'data',
  credits: 0,
  cached: false,
  timeoutSeconds: 60,
  inputs: {
    spreadsheet_id: field.dropdown({
      required: true,
      from: 'Google spreadsheets',
      description: 'The spreadsheet: its id, or its address in a browser.',
    }),
    sheet_name: field.dropdown({
      required: true,
      from: 'sheets of a Google spreadsheet',
      needs: ['spreadsheet_id'],
      description: 'The sheet, as on its tab.',
    }),
    values: namedValues('The values to write: {name, value} with the name of a column.', {
      from: 'columns of a Google sheet',
      needs: ['spreadsheet_id', 'sheet_name'],
    }),
    header_row: field.number({
      whole: true,
      min: 1,
      max: 1_000_000,
      default: 1,
      description: 'The row with the names of the columns. Default 1.',
    }),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: googleSheets }),
  },
  outputs: {
    id: output.text("Where the row is, like 'Leads'!A7:C7."),
    row_number: output.number('The number of the row.'),
    url: output.url('The spreadsheet in a browser.'),
  },
  async run({ inputs, context }) {
    const spreadsheet = toSpreadsheetId(inputs.spreadsheet_id)
    if (!isSpreadsheetId(spreadsheet)) {
      return unrunnable('spreadsheet_id must be the id of a spreadsheet or its address')
    }
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    if (![...values.values()].some((value) => value !== null)) return unrunnable(NOTHING_TO_WRITE)
    const { connection, sheet_name: sheet, header_row: headerRow = 1 } = inputs
    const appended = await appendRow({ connection, spreadsheet, sheet, headerRow }, values, context)
    if (!appended.ok) return appended.outcome
    const { range, provenance } = appended
    const row = /![A-Z]+(\d+)/.exec(range)?.[1]
    const url = `https://docs.google.com/spreadsheets/d/${spreadsheet}`
    return done({ id: range, row_number: row === undefined ? null : Number(row), url }, provenance)
  },
})
