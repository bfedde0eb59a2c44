import type { Warning } from '#contract/envelope.ts'
import { MAX_ROW_BYTES, MAX_VALUE_BYTES, type RejectedRow } from '#contract/rows.ts'
import type { InputColumn } from '../chain/definition.ts'
import { shorten } from '../lib/errors.ts'
import { isLargerJson } from '../lib/json/json-size.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { isObject } from '../lib/json/object.ts'
import { makeStorable, type Note } from '../lib/json/storable.ts'
import { createHints } from '../lib/nearest-name.ts'
import { createTurns } from '../lib/timing/turns.ts'
import { createTypeCheck, nameInRows, warnOfMismatches } from './type-mismatches.ts'

/** Rows on their way into a sheet. `data` is the stored form: JSON text of an object keyed by column number. */
export type Intake = { accepted: AcceptedRow[]; rejected: RejectedRow[]; warnings: Warning[] }
export type AcceptedRow = { index: number; data: string }

/** Errors told of one row, and of all rows before only the first of each is told. */
const MAX_ERRORS_OF_ROW = 20
const MAX_ERRORS = 200
const MAX_WARNINGS = 100
const MAX_FIELD = 300

/**
 * Matches values to columns by input name. Rows are taken one by one: a bad one is rejected with its errors, and the others go
 * in. Values are kept as given, whatever their input's type (D79); numbers as their source text; what PostgreSQL cannot hold is
 * replaced (D28). Takes turns with other work, for a thousand rows may be many megabytes. Values that are too large reject
 * their row, or are left out where nobody is there to be told. `nameRow`: what callers call a row.
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
  const pause = createTurns()
  let told = 0
  for (const [index, row] of rows.entries()) {
    const turn = pause()
    if (turn !== undefined) await turn
    const notes: Warning[] = []
    // Structures may need thousands of replacements, of which a few are told.
    const note: NoteOn = (name, message) => {
      const field = nameOf(`${nameRow(index)}.${name}`)
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
    else warnings.push(duplicateOf(nameRow(index), nameRow(earlier)))
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

/** The inputs that a sheet has, for whoever named none of them. */
export function nameInputs(inputs: readonly InputColumn[]): string {
  if (inputs.length === 0) return 'the sheet has no inputs yet; add some first'
  const named = inputs.slice(0, MAX_NAMED).map((input) => input.name)
  return `the inputs are: ${named.join(', ')}${inputs.length > MAX_NAMED ? ', ...' : ''}`
}

type NoteOn = (name: string, message: string) => void
type RowError = RejectedRow['errors'][number]

/** The stored form of a row, or what is wrong with it. */
function readRow(
  row: unknown,
  columns: ReadonlyMap<string, number>,
  note: NoteOn,
  leavesOutLarge: boolean,
): string | RowError[] {
  if (!isObject(row)) return [malformed(row)]
  const entries = Object.entries(row)
  const unknown = entries.filter(([name]) => !columns.has(name))
  if (unknown.length > 0) return unknown.map(([name]) => unknownField(name))
  const errors: RowError[] = []
  const parts: string[] = []
  let total = 0
  for (const [name, value] of entries) {
    if (value === null || value === undefined) continue
    // What is far too large is not even written.
    const text = isLargerJson(value, MAX_VALUE_BYTES)
      ? null
      : JSON.stringify(storable(value, (message) => note(name, message)))
    const size = text === null ? Infinity : bytesOf(text)
    if (size > MAX_VALUE_BYTES) errors.push(tooLarge(name))
    else if (total + size > MAX_ROW_BYTES) errors.push(tooLarge('_row'))
    else {
      parts.push(`"${columns.get(name)}":${text}`)
      total += size
    }
    if (errors.length > 0 && !leavesOutLarge) return errors
  }
  return `{${parts.join(',')}}`
}

/** Exact where it matters: no character takes more than three bytes. */
function bytesOf(text: string): number {
  return text.length * 3 <= MAX_VALUE_BYTES ? text.length : Buffer.byteLength(text)
}

function capErrors(errors: readonly RowError[], max: number): RowError[] {
  const more = errors.length - max
  if (more <= 0) return [...errors]
  const [first] = errors
  const code = first?.code ?? 'malformed_row'
  return [...errors.slice(0, max), { field: '_row', code, message: `and ${more} more errors` }]
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

const nameOf = (field: string): string => shorten(field, MAX_FIELD)

function tooLarge(name: string): RowError {
  const [what, max] =
    name === '_row' ? ['all values together', MAX_ROW_BYTES] : ['the value', MAX_VALUE_BYTES]
  const message = `${what} must be at most ${max.toLocaleString('en-US')} bytes of JSON`
  return { field: nameOf(name), code: name === '_row' ? 'row_too_large' : 'value_too_large', message }
}

/** The value of one column: text stays text, a number becomes its text, structures stay what they are. */
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
    message: `must be an object keyed by input name; this is ${kind}`,
  }
}

function unknownField(name: string): RejectedRow['errors'][number] {
  return { field: nameOf(name), code: 'unknown_field', message: 'the sheet has no input of this name' }
}

function duplicateOf(field: string, earlier: string): Warning {
  return {
    field,
    code: 'duplicate_row',
    message: `has the same values as ${earlier}; both were added`,
  }
}
