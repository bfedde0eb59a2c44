import type { Warning } from '#contract/envelope.ts'
import type { RejectedRow } from '#contract/rows.ts'
import type { InputColumn } from '../chain/definition.ts'
import { NumberText } from '../lib/lossless-json.ts'

/** Rows on their way into a sheet. `data` is the stored form: JSON text of an object keyed by column number. */
export type Intake = { accepted: AcceptedRow[]; rejected: RejectedRow[]; warnings: Warning[] }
export type AcceptedRow = { index: number; data: string }

/**
 * Matches values to columns by input name. Rows are taken one by one: a bad one is rejected with all its errors, and the
 * others go in. Values are kept as given; numbers as their source text; what PostgreSQL cannot hold is replaced (D28).
 */
export function takeRows(inputs: readonly InputColumn[], rows: readonly unknown[]): Intake {
  const columns = new Map(inputs.map((input) => [input.name, input.column]))
  const intake: Intake = { accepted: [], rejected: [], warnings: [] }
  const seen = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    if (!isPlainObject(row)) {
      intake.rejected.push({ row: index, errors: [malformed(row)] })
      continue
    }
    const errors = Object.keys(row).flatMap((name) => (columns.has(name) ? [] : [unknownField(name)]))
    if (errors.length > 0) {
      intake.rejected.push({ row: index, errors })
      continue
    }
    const data = encode(row, columns, (name, message) =>
      intake.warnings.push({ field: `rows[${index}].${name}`, code: 'value_normalized', message }),
    )
    const earlier = seen.get(data)
    if (earlier === undefined) seen.set(data, index)
    else intake.warnings.push(duplicateOf(index, earlier))
    intake.accepted.push({ index, data })
  }
  return intake
}

type Note = (name: string, message: string) => void

function encode(row: Record<string, unknown>, columns: ReadonlyMap<string, number>, note: Note): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue
    parts.push(`"${columns.get(name)}":${JSON.stringify(storable(value, (message) => note(name, message)))}`)
  }
  return `{${parts.join(',')}}`
}

/** The value of one column: text stays text, a number becomes its text, structures stay what they are. */
function storable(value: unknown, note: (message: string) => void): unknown {
  if (value instanceof NumberText) return value.source
  if (typeof value === 'number') return String(value)
  return clean(value, note)
}

const MAX_DIGITS = 1000

function clean(value: unknown, note: (message: string) => void): unknown {
  if (typeof value === 'string') return cleanText(value, note)
  if (value instanceof NumberText) {
    const exponent = Math.abs(Number(/[eE](.+)$/.exec(value.source)?.[1] ?? 0))
    if (value.source.length <= MAX_DIGITS && exponent <= MAX_DIGITS) return value
    note('a number too long to be stored inside a structure was kept as text')
    return value.source
  }
  if (Array.isArray(value)) return value.map((item) => clean(item, note))
  if (!isPlainObject(value)) return value
  // A null prototype, so that a key such as __proto__ stays a key.
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value)) copy[cleanText(key, note)] = clean(item, note)
  return copy
}

function cleanText(text: string, note: (message: string) => void): string {
  if (!text.includes('\0') && text.isWellFormed()) return text
  note('NUL characters and halves of surrogate pairs were replaced by U+FFFD')
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
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
  return { field: name, code: 'unknown_field', message: 'the sheet has no input of this name' }
}

function duplicateOf(index: number, earlier: number): Warning {
  return {
    field: `rows[${index}]`,
    code: 'duplicate_row',
    message: `has the same values as rows[${earlier}]; both were added`,
  }
}
