import { createCsvParser } from '../../../lib/csv/csv-parser.ts'
import { DELIMITERS, NAMED_DELIMITER } from '../../../lib/csv/delimiters.ts'
import { FileFault } from '../../../lib/csv/file-fault.ts'
import { createUtf8Decoder, refuseForeignStart } from '../../../lib/csv/utf8-decoder.ts'
import { plural } from '../../../lib/plural.ts'
import { pause } from '../../../lib/timing/turns.ts'
import { nameHeaders } from '../../headers.ts'
import { type Chunk, type FilePage, type FilePlace, nextSize } from './place.ts'

const MAX_COLUMNS = 2000
/** The characters parsed at once. Lines may not end with line feeds, so a whole file can be one line. */
const STEP = 64 * 1024
const BOM = '\uFEFF'

/** Returns the complete rows in a chunk of a CSV file, at most `limit`. */
export async function readCsvPage({ bytes, more }: Chunk, here: FilePlace, limit: number): Promise<FilePage> {
  if (here.byte === 0) refuseForeign(bytes)
  const whole = decode({ bytes, more })
  const { head, named } = here.byte === 0 ? readStart(whole) : NO_START
  const text = whole.slice(head.length)
  const delimiter = here.delimiter ?? named ?? (await findDelimiter(text, more))
  const { rows, used } = await takeRows(text, delimiter, {
    limit: limit + (here.columns === null ? 1 : 0),
    isFinal: !more,
  })
  const filled = rows.filter((row) => row.some((cell) => cell !== ''))
  const columns = here.columns ?? (filled.length === 0 ? null : nameColumns(filled.shift() ?? []))
  const length = used === 0 ? 0 : Buffer.byteLength(head + text.slice(0, used))
  const size = nextSize(here.size, length)
  if (size === null)
    throw new FileFault(
      `The record at byte ${here.byte} is longer than 4 MB; check it for a quote that is not closed`,
    )
  const isEnd = !more && used === text.length
  const records: FilePage['rows'] = []
  for (const row of filled) {
    await pause()
    records.push(Object.fromEntries((columns ?? []).map(({ name, place }) => [name, row[place] || null])))
  }
  return {
    rows: records,
    next: isEnd
      ? null
      : {
          byte: here.byte + length,
          size,
          delimiter: columns === null && named === undefined ? null : delimiter,
          columns,
        },
  }
}

const NO_START = { head: '', named: undefined }

/** Returns what stands before the first row: a byte order mark, and a line that names the delimiter. */
function readStart(text: string): { head: string; named: string | undefined } {
  const mark = text.startsWith(BOM) ? BOM : ''
  const [line = '', named] = NAMED_DELIMITER.exec(text.slice(mark.length)) ?? []
  return { head: mark + line, named }
}

function nameColumns(header: readonly string[]) {
  if (header.length > MAX_COLUMNS)
    throw new FileFault(`The file has ${plural(header.length, 'column')}; at most ${MAX_COLUMNS} can be read`)
  return nameHeaders(header)
}

export function decode({ bytes, more }: Chunk): string {
  const decoder = createUtf8Decoder()
  const text = decoder.decode(bytes)
  if (decoder.isBroken(!more))
    throw new FileFault('The file contains bytes that are not UTF-8; save it as UTF-8')
  return text
}

function refuseForeign(bytes: Uint8Array): void {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    throw new FileFault('The file is compressed with gzip; provide it uncompressed')
  refuseForeignStart(bytes)
}

/** Parses line by line, so that the end of the last parsed row is known to the byte. */
async function takeRows(
  text: string,
  delimiter: string,
  { limit, isFinal }: { limit: number; isFinal: boolean },
) {
  const parser = createCsvParser(delimiter)
  const rows: string[][] = []
  let at = 0
  while (at < text.length && rows.length < limit) {
    await pause()
    const end = Math.min(text.indexOf('\n', at) + 1 || text.length, at + STEP)
    for (const row of parser.push(text.slice(at, end))) rows.push(row)
    at = end
  }
  if (at < text.length || !isFinal) return { rows, used: at - parser.rest().text.length }
  return { rows: [...rows, ...parser.end()], used: at }
}

/** Returns the delimiter that gives the first row the most columns. */
async function findDelimiter(text: string, more: boolean): Promise<string> {
  const widths: { delimiter: string; width: number }[] = []
  for (const delimiter of DELIMITERS) {
    const { rows } = await takeRows(text, delimiter, { limit: 1, isFinal: !more })
    widths.push({ delimiter, width: rows[0]?.length ?? 0 })
  }
  return widths.reduce((best, one) => (one.width > best.width ? one : best)).delimiter
}
