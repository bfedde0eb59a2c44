import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { readCsv, readCsvHeaders } from '#server/files/reading/csv-records.ts'
import { FileFault } from '#server/lib/csv/file-fault.ts'
import { invalid, reasonOf } from '#server/lib/errors.ts'
import { parseLossless } from '#server/lib/json/lossless-json.ts'
import { isObject } from '#server/lib/json/object.ts'

/**
 * A record of a file with its number: the line number in JSONL, the record number without the header in CSV.
 */
export type FileRecord = { number: number } & ({ content: Record<string, unknown> } | { fault: string })

/** Reads the records of a CSV or JSONL file, keyed by the names of the columns. */
export async function* readRecordFile(path: string): AsyncGenerator<FileRecord> {
  const found = await stat(path).catch((cause: unknown) => {
    throw invalid('path', `${path} cannot be read: ${reasonOf(cause)}`)
  })
  if (!found.isFile()) throw invalid('path', `${path} is not a file`)
  try {
    yield* path.toLowerCase().endsWith('.csv') ? readCsvFile(path) : readJsonLines(path)
  } catch (cause) {
    throw cause instanceof FileFault ? invalid('path', cause.message) : cause
  }
}

async function* readCsvFile(path: string): AsyncGenerator<FileRecord> {
  const open = async (start: number) => createReadStream(path, { start })
  const headers = (await readCsvHeaders(open)).filter(Boolean)
  let number = 0
  for await (const { records } of readCsv(open, headers, null)) {
    for (const record of records) {
      const columns = headers.map((header, place) => [header, record[place] ?? null])
      yield { number: ++number, content: Object.fromEntries(columns) }
    }
  }
}

async function* readJsonLines(path: string): AsyncGenerator<FileRecord> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1
    if (line.trim() !== '') yield { number, ...parseLine(line) }
  }
}

function parseLine(line: string): { content: Record<string, unknown> } | { fault: string } {
  try {
    const value = parseLossless(line)
    return isObject(value) ? { content: value } : { fault: 'must be a JSON object' }
  } catch (cause) {
    if (cause instanceof SyntaxError) return { fault: 'must be valid JSON' }
    throw cause
  }
}
