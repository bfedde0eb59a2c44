import { z } from 'zod'
import { textOf } from '../../../catalog/chain/references.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import { googleDrive } from '../../../catalog/providers/google_sheets/drive.ts'
import { googleSheets } from '../../../catalog/providers/google_sheets/provider.ts'
import {
  isSpreadsheetId,
  toRange,
  toSpreadsheetId,
  listSheetNames,
  listSpreadsheets,
} from '../../../catalog/push/google-sheets.ts'
import type { SourceOptions } from '../../define.ts'
import { nameHeaders } from '../../headers.ts'
import { definePull } from '../../pull.ts'
import { contentKey } from '../../rows.ts'
import { defineShape } from '../../shape.ts'

export const rows = defineShape({
  body: {
    spreadsheet_id: z
      .string()
      .trim()
      .max(500)
      .transform(toSpreadsheetId)
      .refine(isSpreadsheetId, 'must be the id or the URL of a spreadsheet')
      .describe('The id of the spreadsheet, or its URL in a browser'),
    sheet_name: z.string().min(1).max(200).describe('The name of the sheet, as on its tab'),
    header_row: z
      .int()
      .min(1)
      .max(1_000_000)
      .describe('The row with the names of the columns; default 1')
      .default(1),
    key_column: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .describe('The column that identifies a row permanently; without it all values of a row identify it')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
})

/** The schema of a reply. `range` is the existing part of the requested range, such as `'Leads'!A1:Z1000`. */
const Reply = z.object({ range: z.string().optional(), values: z.array(z.array(z.unknown())).default([]) })

const Column = z.object({ name: z.string(), place: z.int().nonnegative() })
const State = z.object({ row: z.int().positive(), columns: z.array(Column) })
const MAX_PAGE = 1000

// https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/get
export const importedRows = definePull(rows, googleSheets, {
  price: 0,
  state: State,
  async pull({ body: { spreadsheet_id, sheet_name, header_row, key_column }, state, limit, ask }) {
    const first = state?.row ?? header_row
    // The first page also contains the headers.
    const last = first + Math.min(MAX_PAGE, limit) - (state === null ? 0 : 1)
    const range = toRange(sheet_name, `${first}:${last}`)
    const query = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' }
    const path = `/v4/spreadsheets/${spreadsheet_id}/values/${range}`
    const reply = await ask({ path, query }, Reply, (read) => read)
    if ('kind' in reply) return state !== null && isBehindGrid(reply) ? { records: [], next: null } : reply
    const columns = state?.columns ?? nameHeaders(reply.values[0] ?? [])
    if (columns.length === 0) {
      return refusal('ineligible', `row ${header_row} of ${sheet_name} is empty; set header_row`)
    }
    if (key_column !== undefined && !columns.some(({ name }) => name === key_column)) {
      const names = columns.map(({ name }) => name).join(', ')
      return refusal(
        'ineligible',
        `there is no column ${key_column}; the columns in row ${header_row} are: ${names}`,
      )
    }
    const values = state === null ? reply.values.slice(1) : reply.values
    const isEnd = reply.values.length === 0 || lastRowOf(reply.range) < last
    return {
      records: values.flatMap((cells) => {
        if (!cells.some(hasValue)) return []
        const row = Object.fromEntries(
          columns.map(({ name, place }) => [name, hasValue(cells[place]) ? cells[place] : null]),
        )
        const key = key_column === undefined ? null : row[key_column]
        return [{ key: key === null ? contentKey(row) : textOf(key), row }]
      }),
      next: isEnd ? null : { row: last + 1, columns },
    }
  },
})

const hasValue = (cell: unknown) => cell !== undefined && cell !== null && cell !== ''

/**
 * Returns true if the refusal means that the range is after the last row of the grid. Google refuses such a range
 * instead of returning no rows.
 */
const isBehindGrid = (reply: Refusal) => 'message' in reply && /exceeds grid limits/i.test(reply.message)

function lastRowOf(range: string | undefined): number {
  const end = /:[A-Z]*(\d+)$/.exec(range ?? '')?.[1]
  return end === undefined ? Number.POSITIVE_INFINITY : Number(end)
}

const spreadsheets: SourceOptions = { provider: googleDrive, list: (send) => listSpreadsheets(send) }

const sheetNames: SourceOptions = {
  provider: googleSheets,
  needs: { spreadsheet_id: ['spreadsheet'] },
  async list(send, { spreadsheet_id = '' }) {
    if (!isSpreadsheetId(spreadsheet_id)) {
      return { ok: false, refusal: refusal('ineligible', 'spreadsheet_id must be the id of a spreadsheet') }
    }
    return listSheetNames(send, spreadsheet_id)
  },
}

export const googleSheetsOptions = { spreadsheet_id: spreadsheets, sheet_name: sheetNames }
