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
  description: 'Adds a row at the end of a Google sheet.',
  category: 'data',
  synonyms: ['spreadsheet', 'export', 'save', 'gsheet'],
  credits: 0,
  cached: false,
  timeoutSeconds: 60,
  inputs: {
    spreadsheet_id: field.dropdown({
      required: true,
      from: 'Google spreadsheets',
      label: 'Spreadsheet',
      help: 'The Google spreadsheet to write to.',
      details: 'Takes its id, or its address in a browser.',
    }),
    sheet_name: field.dropdown({
      required: true,
      from: 'sheets of a Google spreadsheet',
      needs: ['spreadsheet_id'],
      label: 'Sheet',
      help: 'The tab of the spreadsheet.',
      details: 'Takes the name on the tab.',
    }),
    values: namedValues(
      {
        label: 'Columns',
        help: 'The columns to write and their values.',
        details: '{name, value} with the name of a column.',
      },
      {
        from: 'columns of a Google sheet',
        needs: ['spreadsheet_id', 'sheet_name'],
      },
    ),
    header_row: field.number({
      whole: true,
      min: 1,
      max: 1_000_000,
      default: 1,
      label: 'Header row',
      help: 'The row that holds the names of the columns.',
      placeholder: '1',
      details: 'Default 1.',
      advanced: true,
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
