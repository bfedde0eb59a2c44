import { getExtension } from '#contract/imports.ts'
import { type OpenFile, readCsv, readCsvHeaders } from './csv-records.ts'
import type { SourceRecord } from './records.ts'
import { spool } from './spool.ts'
import { readXlsxHead } from './xlsx-records.ts'

const PREVIEW_ROWS = 5
/** The maximum length of a cell in a preview. A cell may hold a whole book. */
const MAX_CELL = 200
const MAX_HEADERS = 500

export type FilePreview = { headers: string[]; rows: SourceRecord[]; worksheets: string[] }

/** Returns the headers of an uploaded file that can be mapped, and its first records. */
export async function previewFile(
  fileRef: string,
  open: OpenFile,
  { sheetName, spoolFolder }: { sheetName: string | null; spoolFolder: string },
): Promise<FilePreview> {
  const preview =
    getExtension(fileRef) === 'csv'
      ? await previewCsv(open)
      : await previewXlsx(await open(0), { sheetName, spoolFolder })
  return { ...preview, rows: preview.rows.map((row) => row.map((cell) => cell?.slice(0, MAX_CELL) ?? null)) }
}

async function previewCsv(open: OpenFile): Promise<FilePreview> {
  const headers = listMappableHeaders(await readCsvHeaders(open))
  const rows: SourceRecord[] = []
  if (headers.length > 0) {
    for await (const { records } of readCsv(open, headers, null)) {
      rows.push(...records.slice(0, PREVIEW_ROWS - rows.length))
      if (rows.length === PREVIEW_ROWS) break
    }
  }
  return { headers, rows, worksheets: [] }
}

async function previewXlsx(
  body: AsyncIterable<Uint8Array>,
  options: { sheetName: string | null; spoolFolder: string },
): Promise<FilePreview> {
  const file = await spool(body, options.spoolFolder)
  try {
    const { rows, names } = await readXlsxHead({ file, ...options }, 1 + PREVIEW_ROWS)
    const [first = [], ...rest] = rows
    const headers = listMappableHeaders(first)
    const places = headers.map((header) => first.indexOf(header))
    const shown = headers.length === 0 ? [] : rest
    return { headers, rows: shown.map((row) => places.map((place) => row[place] ?? null)), worksheets: names }
  } finally {
    await file.close()
  }
}

/** Returns the headers that have a name and appear only once. Others cannot be told apart in a mapping. */
function listMappableHeaders(row: readonly (string | undefined)[]): string[] {
  const times = new Map<string, number>()
  for (const name of row) if (name) times.set(name, (times.get(name) ?? 0) + 1)
  return [...times].flatMap(([name, count]) => (count === 1 ? [name] : [])).slice(0, MAX_HEADERS)
}
