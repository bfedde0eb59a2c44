import { z } from 'zod'
import { byLabel, mapReply } from '../../catalog/provider/options.ts'
import { refusal } from '../../catalog/provider/reply.ts'
import { googleDrive } from '../../catalog/providers/google_sheets/drive.ts'
import { googleSheets } from '../../catalog/providers/google_sheets/provider.ts'
import type { SourceOptions } from '../define.ts'

export const SPREADSHEET_ID = /^[\w-]{10,200}$/

// https://developers.google.com/workspace/drive/api/reference/rest/v3/files/list
const Files = z.object({ files: z.array(z.object({ id: z.string(), name: z.string() })) })
const Sheets = z.object({ sheets: z.array(z.object({ properties: z.object({ title: z.string() }) })) })

const spreadsheets: SourceOptions = {
  provider: googleDrive,
  async list(send) {
    const query = {
      q: "mimeType='application/vnd.google-apps.spreadsheet' and trashed=false",
      fields: 'files(id,name)',
      orderBy: 'modifiedTime desc',
      pageSize: 200,
    }
    const reply = await send({ path: '/drive/v3/files', query }, Files)
    return mapReply(reply, ({ files }) => byLabel(files.map(({ id, name }) => ({ value: id, label: name }))))
  },
}

const sheetNames: SourceOptions = {
  provider: googleSheets,
  needs: { spreadsheet_id: ['spreadsheet'] },
  async list(send, { spreadsheet_id = '' }) {
    if (!SPREADSHEET_ID.test(spreadsheet_id)) {
      return { ok: false, refusal: refusal('ineligible', 'spreadsheet_id must be the id of a spreadsheet') }
    }
    const query = { fields: 'sheets.properties.title' }
    const reply = await send({ path: `/v4/spreadsheets/${spreadsheet_id}`, query }, Sheets)
    return mapReply(reply, ({ sheets }) =>
      sheets.map(({ properties: { title } }) => ({ value: title, label: title })),
    )
  },
}

export const googleSheetsOptions = { spreadsheet_id: spreadsheets, sheet_name: sheetNames }
