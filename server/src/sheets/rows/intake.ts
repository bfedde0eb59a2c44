import type { Warning } from '#contract/envelope.ts'
import { MAX_ROW_BYTES, MAX_VALUE_BYTES, type RejectedRow } from '#contract/rows.ts'
import type { InputColumn } from '../../catalog/chain/definition.ts'
import { shorten } from '../../lib/errors.ts'
import { isLargerJson } from '../../lib/json/json-size.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { makeStorable, type Note } from '../../lib/json/storable.ts'
import { createHints } from '../../lib/nearest-name.ts'
import { pause } from '../../lib/timing/turns.ts'
import { createTypeCheck, nameInRows, warnOfMismatches } from './value-warnings.ts'

/** Rows that are being added to a sheet. `data` is the stored form: JSON text of an object keyed by column number. */
export type Intake = { accepted: AcceptedRow[]; rejected: RejectedRow[]; warnings: Warning[] }
export type AcceptedRow = { index: number; data: string }

/** The errors reported for one row, and for all rows before only the first error of each further row is reported. */
const MAX_ERRORS_OF_ROW = 20
const MAX_ERRORS = 200
const MAX_WARNINGS = 100
const MAX_FIELD = 300
/** The bytes of JSON that errors of rejected rows, and the rows themselves, may take in a response. */
const MAX_ERROR_BYTES = 256 * 1024
const MAX_REPEATED_BYTES = 256 * 1024

/**
 * Matches values to columns by input name. Each row is checked on its own: a bad row is rejected with its errors, and the
 * others are added. Values are stored as given, whatever their input's type (D79), numbers as their source text; characters
 * that PostgreSQL cannot store are replaced (D28). A thousand rows may be many megabytes, so the work takes turns with other
 * work. Values that are too large reject their row, or are left out if no caller waits for errors (`leavesOutLarge`).
 * `nameRow` returns the name of a row for callers.
 */
export async function parseRows(
  inputs: readonly InputColumn[],
  rows: readonly unknown[],
  { leavesOutLarge = false, nameRow = nameInRows } = {},
): Promise<Intake> {
  const columns = new Map(inputs.map((input) => [input.name, input.column]))
  const intake: Intake = { accepted: [], rejected: [], warnings: [] }
  const warnings: Warning[] = []
  const seen = new Map<string, number>()
  const hint = createHints(columns.keys())
  const types = createTypeCheck(inputs)
  let told = 0
  for (const [index, row] of rows.entries()) {
    const turn = pause()
    if (turn !== undefined) await turn
    const notes: Warning[] = []
    // Structures may need thousands of replacements, of which a few are reported.
    const note: NoteOn = (name, message) => {
      const field = shortenName(`${nameRow(index)}.${name}`)
      if (notes.length < MAX_WARNINGS) notes.push({ field, code: 'value_normalized', message })
    }
    const read = readRow(row, columns, note, leavesOutLarge)
    if (typeof read !== 'string') {
      const errors = capErrors(read, told < MAX_ERRORS ? MAX_ERRORS_OF_ROW : 1).map((error) =>
        error.code === 'unknown_field' ? { ...error, message: error.message + hint(error.field) } : error,
      )
      told += errors.length
      intake.rejected.push({ row, index, errors })
      continue
    }
    warnings.push(...notes)
    if (isObject(row)) types.look(row, index)
    const earlier = seen.get(read)
    if (earlier === undefined) seen.set(read, index)
    else warnings.push(warnOfDuplicate(nameRow(index), nameRow(earlier)))
    intake.accepted.push({ index, data: read })
  }
  intake.warnings = [...capWarnings(warnings), ...warnOfMismatches(types.mismatches(), nameRow)]
  if (intake.accepted.length === 0 && rows.length > 0) {
    const message = `no row was added, each is in \`rejected\`; ${nameInputs(inputs)}`
    intake.warnings.push({ field: 'rows', code: 'all_rows_rejected', message })
  }
  return intake
}

const MAX_NAMED = 20

/** Returns a text with the inputs of a sheet, for a caller that named none of them. */
export function nameInputs(inputs: readonly InputColumn[]): string {
  if (inputs.length === 0) return 'the sheet has no inputs yet; add some first'
  const named = inputs.slice(0, MAX_NAMED).map((input) => input.name)
  return `the inputs are: ${named.join(', ')}${inputs.length > MAX_NAMED ? ', ...' : ''}`
}

type NoteOn = (name: string, message: string) => void
type RowError = RejectedRow['errors'][number]
/** The first errors of a row, and the number of all. */
type RowFault = { errors: RowError[]; count: number }

/** Returns the stored form of a row, or its errors. */
function readRow(
  row: unknown,
  columns: ReadonlyMap<string, number>,
  note: NoteOn,
  leavesOutLarge: boolean,
): string | RowFault {
  if (!isObject(row)) return { errors: [malformed(row)], count: 1 }
  const unknown = findUnknown(row, columns)
  if (unknown.count > 0) return unknown
  const errors: RowError[] = []
  const parts: string[] = []
  let total = 0
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue
    // A value that is far too large is not even written as JSON.
    const text = isLargerJson(value, MAX_VALUE_BYTES)
      ? null
      : JSON.stringify(storable(value, (message) => note(name, message)))
    const size = text === null ? Infinity : countBytes(text)
    if (size > MAX_VALUE_BYTES) errors.push(tooLarge(name))
    else if (total + size > MAX_ROW_BYTES) errors.push(tooLarge('_row'))
    else {
      parts.push(`"${columns.get(name)}":${text}`)
      total += size
    }
    if (errors.length > 0 && !leavesOutLarge) return { errors, count: errors.length }
  }
  return `{${parts.join(',')}}`
}

/** Returns the size of a text in bytes. It is exact where it matters: no character takes more than three bytes. */
function countBytes(text: string): number {
  return text.length * 3 <= MAX_VALUE_BYTES ? text.length : Buffer.byteLength(text)
}

/** Finds unknown keys. It makes errors only for the first ones, because a row may have half a million keys. */
function findUnknown(row: Record<string, unknown>, columns: ReadonlyMap<string, number>): RowFault {
  const fault: RowFault = { errors: [], count: 0 }
  for (const name in row) {
    if (columns.has(name)) continue
    fault.count += 1
    if (fault.errors.length < MAX_ERRORS_OF_ROW) fault.errors.push(unknownField(name))
  }
  return fault
}

function capErrors({ errors, count }: RowFault, max: number): RowError[] {
  const told = errors.slice(0, max)
  const more = count - told.length
  return more > 0 ? [...told, moreErrors(errors, `and ${more} more errors`)] : told
}

const moreErrors = ([first]: readonly RowError[], message: string): RowError => ({
  field: '_row',
  code: first?.code ?? 'malformed_row',
  message,
})

/**
 * Returns the rejected rows for a response. Rows and errors are repeated as far as the response has room for them. Each row
 * is listed with its place and at least one error.
 */
export function fitRejected(rejected: readonly RejectedRow[]): RejectedRow[] {
  let errorBytes = 0
  let repeatedBytes = 0
  return rejected.map(({ row, index, errors }) => {
    const size = Buffer.byteLength(JSON.stringify(errors))
    const isTold = errorBytes + size <= MAX_ERROR_BYTES
    if (isTold) errorBytes += size
    const told = isTold
      ? errors
      : [moreErrors(errors, 'has errors of this kind; correct the rows before it first')]
    const room = MAX_REPEATED_BYTES - repeatedBytes
    const length = isLargerJson(row, room) ? Infinity : Buffer.byteLength(JSON.stringify(row))
    if (length > room) return { row: null, row_left_out: true, index, errors: told }
    repeatedBytes += length
    return { row, index, errors: told }
  })
}

function capWarnings(warnings: readonly Warning[]): Warning[] {
  const more = warnings.length - MAX_WARNINGS
  if (more <= 0) return [...warnings]
  const codes = [...new Set(warnings.slice(MAX_WARNINGS).map(({ code }) => code))]
  const rest = codes.map((code) => {
    const count = warnings.slice(MAX_WARNINGS).filter((warning) => warning.code === code).length
    return { field: 'rows', code, message: `and at least ${count} more of these` }
  })
  return [...warnings.slice(0, MAX_WARNINGS), ...rest]
}

const shortenName = (field: string): string => shorten(field, MAX_FIELD)

function tooLarge(name: string): RowError {
  const [subject, max] =
    name === '_row' ? ['all values together', MAX_ROW_BYTES] : ['the value', MAX_VALUE_BYTES]
  const message = `${subject} must be at most ${max.toLocaleString('en-US')} bytes of JSON`
  return { field: shortenName(name), code: name === '_row' ? 'row_too_large' : 'value_too_large', message }
}

/** Returns the stored value of a column: text stays text, a number becomes its text, structures stay as they are. */
function storable(value: unknown, note: Note): unknown {
  if (value instanceof NumberText) return value.source
  if (typeof value === 'number') return String(value)
  return makeStorable(value, note)
}

function malformed(row: unknown): RejectedRow['errors'][number] {
  const kind =
    row === null
      ? 'null'
      : Array.isArray(row)
        ? 'an array'
        : `a ${row instanceof NumberText ? 'number' : typeof row}`
  return {
    field: '_row',
    code: 'malformed_row',
    message: `must be an object keyed by input name; the row is ${kind}`,
  }
}

function unknownField(name: string): RejectedRow['errors'][number] {
  return { field: shortenName(name), code: 'unknown_field', message: 'the sheet has no input of this name' }
}

function warnOfDuplicate(field: string, earlier: string): Warning {
  return {
    field,
    code: 'duplicate_row',
    message: `has the same values as ${earlier}; both were added`,
  }
}
