import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { googleDrive } from '../providers/google_sheets/drive.ts'
import { googleSheets } from '../providers/google_sheets/provider.ts'

export const isSpreadsheetId = (text: string): boolean => /^[\w-]{10,200}$/.test(text)

/** Returns the id of a spreadsheet, given as the id or as the spreadsheet's address in a browser. */
export const toSpreadsheetId = (text: string): string =>
  /\/spreadsheets\/d\/([\w-]+)/.exec(text)?.[1] ?? text.trim()

/** Encodes a range of a sheet as a step of a path. */
export const toRange = (sheet: string, cells: string): string =>
  encodeURIComponent(`'${sheet.replaceAll("'", "''")}'!${cells}`)

// developers.google.com/workspace/drive/api/reference/rest/v3/files/list and sheets .../v4/spreadsheets/get (2026-11).
const Files = z.object({ files: z.array(z.object({ id: z.string(), name: z.string() })) })
const Sheets = z.object({ sheets: z.array(z.object({ properties: z.object({ title: z.string() }) })) })
const Header = z.object({ values: z.array(z.array(z.unknown())).default([]) })

export async function listSpreadsheets(send: SendRequest): Promise<ProviderReply<Option[]>> {
  const query = {
    q: "mimeType='application/vnd.google-apps.spreadsheet' and trashed=false",
    fields: 'files(id,name)',
    orderBy: 'modifiedTime desc',
    pageSize: 200,
  }
  const reply = await send({ path: '/drive/v3/files', query }, Files)
  return mapReply(reply, ({ files }) => byLabel(files.map(({ id, name }) => ({ value: id, label: name }))))
}

export async function listSheetNames(
  send: SendRequest,
  spreadsheet: string,
): Promise<ProviderReply<Option[]>> {
  const query = { fields: 'sheets.properties.title' }
  const reply = await send({ path: `/v4/spreadsheets/${spreadsheet}`, query }, Sheets)
  return mapReply(reply, ({ sheets }) =>
    sheets.map(({ properties: { title } }) => ({ value: title, label: title })),
  )
}

const spreadsheet = {
  field: 'spreadsheet_id',
  fits: (text: string) => isSpreadsheetId(toSpreadsheetId(text)),
}

export const GOOGLE_SHEETS_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Google spreadsheets': { provider: googleDrive, list: listSpreadsheets },
  'sheets of a Google spreadsheet': {
    provider: googleSheets,
    parent: spreadsheet,
    list: (send, id) => listSheetNames(send, toSpreadsheetId(id)),
  },
  'columns of a Google sheet': {
    provider: googleSheets,
    parent: { field: 'sheet_name', fits: (name) => name !== '' },
    within: spreadsheet,
    async list(send, sheet, id) {
      const path = `/v4/spreadsheets/${toSpreadsheetId(id)}/values/${toRange(sheet, '1:1')}`
      return mapReply(await send({ path }, Header), ({ values }) =>
        (values[0] ?? []).flatMap((name) =>
          typeof name === 'string' && name !== '' ? [{ value: name, label: name }] : [],
        ),
      )
    },
  },
}
