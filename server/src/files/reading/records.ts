import { z } from 'zod'
import { MAX_ROW_BYTES, MAX_VALUE_BYTES } from '#contract/rows.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { toStorableJson } from '../../lib/json/storable.ts'

/** The texts of the mapped columns, in the order of the mapping. Empty cells are null. */
export type SourceRecord = (string | null)[]

/** A batch of records with the file position after them: JSON that only the reader understands. */
export type Batch = { records: SourceRecord[]; position: unknown }

/** Returns the columns of the mapped headers in row 1. Each header must appear exactly once. */
export function locateHeaders(row: Row, headers: readonly string[]): number[] {
  const missing = headers.filter((header) => !row.includes(header))
  if (missing.length > 0) {
    const names = missing.map(quote).join(', ')
    const found = row.filter(Boolean)
    throw new FileFault(
      `Row 1 has no header ${names}; ${found.length === 0 ? 'it is empty' : `its headers are ${listNames(found)}`}`,
    )
  }
  for (const header of headers) {
    const places = row.flatMap((name, place) => (name === header ? [place + 1] : []))
    if (places.length > 1) {
      throw new FileFault(
        `The header ${quote(header)} appears in columns ${places.join(' and ')}; a mapped header must be unique`,
      )
    }
  }
  return headers.map((header) => row.indexOf(header))
}

type Row = readonly (string | null | undefined)[]

/** Returns true if the row has a value. Editors and spreadsheets leave empty rows behind; they are not records. */
export const hasValue = (row: Row): boolean => row.some((value) => value)

export const pickColumns = (row: Row, columns: readonly number[]): SourceRecord =>
  columns.map((column) => row[column] || null)

/** A record with no more characters surely fits into a row: JSON uses at most six bytes for each character. */
export const SURELY_FITS = Math.floor(MAX_VALUE_BYTES / 6) - 2

/** Refuses values that are larger than Add Rows allows. */
export function refuseLarge(
  record: SourceRecord,
  headers: readonly string[],
  { place, tooLong }: { place: string; tooLong: string },
): void {
  let total = 0
  for (const [at, value] of record.entries()) {
    const bytes = value === null ? 0 : Buffer.byteLength(toStorableJson(value))
    if (bytes > MAX_VALUE_BYTES) {
      throw new FileFault(`The value of ${quote(headers[at] ?? '')} in ${place} is longer than 1 MB`)
    }
    total += bytes
  }
  if (total > MAX_ROW_BYTES) throw new FileFault(tooLong)
}

const MAX_LISTED = 20
const LONGEST_NAME = 80

export function listNames(names: Row): string {
  const listed = names.slice(0, MAX_LISTED).map((name) => quote(name ?? ''))
  return names.length > MAX_LISTED
    ? `${listed.join(', ')} and ${names.length - MAX_LISTED} more`
    : listed.join(', ')
}

export function quote(name: string): string {
  return `"${name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name}"`
}

export const Columns = z.array(z.int().min(0))
