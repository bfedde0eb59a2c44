import { z } from 'zod'
import { countBreaks, createCsvParser, type CsvParser, tooLong } from '../../lib/csv/csv-parser.ts'
import { DELIMITERS, NAMED_DELIMITER } from '../../lib/csv/delimiters.ts'
import { FileFault, MAX_RECORD_BYTES } from '../../lib/csv/file-fault.ts'
import { createUtf8Decoder, notUtf8, refuseForeignStart, withWholeStart } from '../../lib/csv/utf8-decoder.ts'
import {
  type Batch,
  Columns,
  hasValue,
  locateHeaders,
  pickColumns,
  refuseLarge,
  SURELY_FITS,
} from './records.ts'

const BOM = '\uFEFF'

/** The position to continue from: the byte at which a row starts, its line, and what row 1 has shown. */
const Position = z.object({ byte: z.int(), line: z.int(), delimiter: z.string(), columns: Columns })
type Position = z.infer<typeof Position>

/** Opens a file from a byte on. */
export type OpenFile = (start: number) => Promise<AsyncIterable<Uint8Array>>

/** Reads the records of a CSV file. Each batch holds the rows that one block of the file completes. */
export async function* readCsv(
  open: OpenFile,
  headers: readonly string[],
  from: unknown,
): AsyncGenerator<Batch> {
  const position = from === null ? await readHead(open, headers) : Position.parse(from)
  const { byte, line, delimiter, columns } = position
  const parser = createCsvParser(delimiter, line)
  const decoder = createUtf8Decoder()
  let atHeader = from === null

  function batchOf(rows: string[][]): Batch {
    const long = rows.find((row) => lengthOf(row) > SURELY_FITS)
    if (long !== undefined) refuseLongRows(rows, parser.rest().line)
    const filled = rows.filter(hasValue)
    if (atHeader && filled.shift() !== undefined) atHeader = false
    const rest = parser.rest()
    const read = byte + decoder.bytes() - Buffer.byteLength(rest.text)
    return {
      records: filled.map((row) => pickColumns(row, columns)),
      position: { byte: read, line: rest.line, delimiter, columns } satisfies Position,
    }
  }

  function refuseLongRows(rows: string[][], nextLine: number): void {
    let line = nextLine - rows.reduce((sum, row) => sum + linesOf(row), 0)
    for (const row of rows) {
      const length = lengthOf(row)
      if (length > MAX_RECORD_BYTES) throw new FileFault(tooLong(line))
      if (length > SURELY_FITS) {
        refuseLarge(pickColumns(row, columns), headers, { place: `line ${line}`, tooLong: tooLong(line) })
      }
      line += linesOf(row)
    }
  }

  for await (const bytes of await open(byte)) {
    const first = byte === 0 && decoder.bytes() === 0
    const text = decoder.decode(bytes)
    const rows = parser.push(first ? withoutMark(text) : text)
    if (decoder.isBroken(false)) throw notUtf8(lastLine(parser))
    const batch = rows.length === 0 ? null : batchOf(rows)
    if (batch !== null && batch.records.length > 0) yield batch
  }
  if (decoder.isBroken(true)) throw notUtf8(lastLine(parser))
  const last = batchOf(parser.end())
  if (last.records.length > 0) yield last
}

const lengthOf = (row: readonly string[]) => row.reduce((sum, field) => sum + field.length, 0)

const linesOf = (row: readonly string[]) => row.reduce((sum, field) => sum + countBreaks(field), 1)

const withoutMark = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text)

function lastLine(parser: CsvParser): number {
  const { text, line } = parser.rest()
  return line + countBreaks(text)
}

type Candidate = { delimiter: string; parser: CsvParser; row?: string[] | undefined; fault?: FileFault }

/** Returns the headers of a CSV file, from row 1. */
export async function readCsvHeaders(open: OpenFile): Promise<string[]> {
  return (await readFirstRow(open, [])).row ?? []
}

/** Reads row 1 to find the delimiter and the positions of the mapped columns. */
async function readHead(open: OpenFile, headers: readonly string[]): Promise<Position> {
  const { row, delimiter, byte } = await readFirstRow(open, headers)
  return { byte, line: byte === 0 ? 1 : 2, delimiter, columns: locateHeaders(row ?? [], headers) }
}

/** Reads row 1 with each possible delimiter. Also returns the byte at which the records begin. */
async function readFirstRow(
  open: OpenFile,
  headers: readonly string[],
): Promise<Candidate & { byte: number }> {
  const decoder = createUtf8Decoder()
  const startWith = (delimiter: string): Candidate => ({ delimiter, parser: createCsvParser(delimiter) })
  let candidates = DELIMITERS.map(startWith)
  let byte = 0
  const listUndecided = () => candidates.filter(({ row, fault }) => row === undefined && fault === undefined)
  for await (const bytes of withWholeStart(await open(0))) {
    const first = decoder.bytes() === 0
    if (first) refuseForeignStart(bytes)
    const whole = decoder.decode(bytes)
    let text = first ? withoutMark(whole) : whole
    const [line = '', named] = (first && NAMED_DELIMITER.exec(text)) || []
    if (named !== undefined) {
      candidates = [startWith(named)]
      text = text.slice(line.length)
      byte = Buffer.byteLength(whole) - Buffer.byteLength(text)
    }
    for (const candidate of listUndecided()) tryToRead(candidate, (parser) => parser.push(text))
    const [waiting] = listUndecided()
    if (waiting === undefined) break
    if (decoder.isBroken(false)) throw notUtf8(lastLine(waiting.parser))
  }
  for (const candidate of listUndecided()) tryToRead(candidate, (parser) => parser.end())
  return { ...chooseBest(candidates, headers), byte }
}

function tryToRead(candidate: Candidate, read: (parser: CsvParser) => string[][]): void {
  try {
    candidate.row = read(candidate.parser).find(hasValue)
  } catch (cause) {
    if (!(cause instanceof FileFault)) throw cause
    candidate.fault = cause
  }
}

/** Returns the delimiter that finds most mapped headers, and of equal ones the one with most columns. */
function chooseBest(candidates: Candidate[], headers: readonly string[]): Candidate {
  const score = ({ row = [] }: Candidate) =>
    headers.filter((header) => row.includes(header)).length * 1e6 + row.length
  const best = candidates.reduce((best, candidate) => (score(candidate) > score(best) ? candidate : best))
  // A quote that is not closed hides the headers after it.
  const { fault } = candidates.find((candidate) => candidate.fault !== undefined) ?? {}
  if (fault !== undefined && !headers.every((header) => best.row?.includes(header))) throw fault
  return best
}
