import type { Warning } from '#contract/envelope.ts'
import type { RejectedRow } from '#contract/rows.ts'
import type { InputColumn } from '../chain/definition.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { isObject } from '../lib/json/object.ts'
import { makeStorable, type Note } from '../lib/json/storable.ts'

/** Rows on their way into a sheet. `data` is the stored form: JSON text of an object keyed by column number. */
export type Intake = { accepted: AcceptedRow[]; rejected: RejectedRow[]; warnings: Warning[] }
export type AcceptedRow = { index: number; data: string }

/**
 * Matches values to columns by input name. Rows are taken one by one: a bad one is rejected with all its errors, and the
 * others go in. Values are kept as given; numbers as their source text; what PostgreSQL cannot hold is replaced (D28).
 */
export function parseRows(inputs: readonly InputColumn[], rows: readonly unknown[]): Intake {
  const columns = new Map(inputs.map((input) => [input.name, input.column]))
  const intake: Intake = { accepted: [], rejected: [], warnings: [] }
  const seen = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    if (!isObject(row)) {
      intake.rejected.push({ row, index, errors: [malformed(row)] })
      continue
    }
    const errors = Object.keys(row).flatMap((name) => (columns.has(name) ? [] : [unknownField(name)]))
    if (errors.length > 0) {
      intake.rejected.push({ row, index, errors })
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

function encode(row: Record<string, unknown>, columns: ReadonlyMap<string, number>, note: NoteOn): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue
    parts.push(`"${columns.get(name)}":${JSON.stringify(storable(value, (message) => note(name, message)))}`)
  }
  return `{${parts.join(',')}}`
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
  return { field: name, code: 'unknown_field', message: 'the sheet has no input of this name' }
}

function duplicateOf(index: number, earlier: number): Warning {
  return {
    field: `rows[${index}]`,
    code: 'duplicate_row',
    message: `has the same values as rows[${earlier}]; both were added`,
  }
}
