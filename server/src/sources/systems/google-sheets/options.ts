import { refusal } from '../../../catalog/provider/reply.ts'
import { googleDrive } from '../../../catalog/providers/google_sheets/drive.ts'
import { googleSheets } from '../../../catalog/providers/google_sheets/provider.ts'
import { isSpreadsheetId, listSheetNames, listSpreadsheets } from '../../../catalog/push/google-sheets.ts'
import type { SourceOptions } from '../../define.ts'

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
