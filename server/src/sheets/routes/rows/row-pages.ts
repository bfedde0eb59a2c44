import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DEFAULT_PAGE_SIZE, ListRowsBody } from '#contract/rows.ts'
import { sendJson } from '../../../api/http/envelope.ts'
import type { ForeseenRead } from '../../../api/load/foresight.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import type { SheetKey } from '../../../database/tables/sheet-key.ts'
import { plural } from '../../../lib/plural.ts'
import { createRowWriter } from '../../rows/view.ts'
import { listPageCells } from '../../store/cells.ts'
import { listPage, type Page, pageOf, type PageRow, selectPage } from '../../store/rows.ts'
import { outputsUrl } from './cells.ts'

/**
 * Answers `RowPage`. It is what people and programs ask for most, so it is written as text: to read what the database answers, check
 * it against a schema and write it again took a third of the time of a request.
 */
export async function sendRowPage(
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
  definition: Definition,
  page: Page & { page_no: number; page_size: number },
): Promise<FastifyReply> {
  const { db, sheet } = request
  const { total, page_no, page_size } = page
  const cells = await listPageCells(db, sheet.org_id, page.rows, outputsUrl(publicUrl, sheet))
  const writeRow = createRowWriter(definition)
  const rows = page.rows.map((row) => writeRow(row, cells.get(row.row_id)))
  return sendJson(
    request,
    reply,
    `{"rows":[${rows.join()}],"total_count":${total},"page_no":${page_no},"page_size":${page_size}}`,
  )
}

const { page_no, page_size } = ListRowsBody.unwrap().shape
/** Of all rows, as most ask for them. */
const PlainPage = z.strictObject({ page_no, page_size: page_size.default(DEFAULT_PAGE_SIZE) })

/** What `readPage` will read for such a body. */
export function foreseePage(sheet: SheetKey, bodyText: string): ForeseenRead | undefined {
  const asked = PlainPage.safeParse(parseJson(bodyText))
  if (!asked.success) return undefined
  const limit = asked.data.page_size
  const offset = (asked.data.page_no - 1) * limit
  return { name: nameOf(offset, limit), statement: selectPage(sheet, offset, limit) }
}

/** Rows from `offset` on, which may have been read while the caller was admitted. */
export async function readPage(
  { db, sheet, foreseen }: FastifyRequest,
  offset: number,
  limit: number,
): Promise<Page> {
  if (foreseen?.name !== nameOf(offset, limit)) return listPage(db, sheet, offset, limit)
  return pageOf(db, sheet.org_id, (await foreseen.rows) as PageRow[])
}

const nameOf = (offset: number, limit: number): string => `${plural(limit, 'row')} from ${offset}`

/** Whatever is wrong with it is said by whoever parses it for the request. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
