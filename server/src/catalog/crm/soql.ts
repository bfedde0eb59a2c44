import { NumberText } from '../../lib/json/lossless-json.ts'
import { type FieldValue, type FieldValues, printValue } from './field-values.ts'

export type Query = {
  object: string
  /** The fields to read. An empty list means all fields. */
  select: readonly string[]
  conditions: readonly Condition[]
  operator: 'AND' | 'OR'
  exact: boolean
  limit: number
  /** Limits the query to records created since then. */
  since?: Date
}

/** A condition. SOQL writes texts in quotes; numbers, dates and booleans without. */
export type Condition = { field: string; value: FieldValue; quoted: boolean }

const NAME = /^[A-Za-z]\w*$/
const PATH = /^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/
const LITERAL = /^(-?\d+(\.\d+)?|true|false|\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)$/i

/**
 * Returns true for a valid name. Names are put into queries and addresses unchanged, so no other text may get there.
 */
export const isName = (text: string): boolean => NAME.test(text)
/** Returns true for a field, or a field of a record that it refers to, such as `Account.Name`. */
export const isFieldPath = (text: string): boolean => PATH.test(text)

export function toConditions(values: FieldValues): Condition[] {
  return [...values].map(([field, value]) => ({ field, value, quoted: !isBare(value) }))
}

function isBare(value: FieldValue): boolean {
  const isTyped = typeof value === 'boolean' || typeof value === 'number' || value instanceof NumberText
  return isTyped && LITERAL.test(printValue(value))
}

export function printQuery({ object, select, conditions, operator, exact, limit, since }: Query): string {
  const fields = select.length === 0 ? 'FIELDS(ALL)' : [...new Set(['Id', ...select])].join(', ')
  const where = conditions.map((condition) => printCondition(condition, exact)).join(` ${operator} `)
  const created = since === undefined ? '' : ` AND CreatedDate >= ${since.toISOString()}`
  return `SELECT ${fields} FROM ${object} WHERE ${where}${created} LIMIT ${limit}`
}

function printCondition({ field, value, quoted }: Condition, exact: boolean): string {
  if (value === null) return `${field} = null`
  const text = printValue(value)
  if (!quoted) return `${field} = ${text}`
  if (exact) return `${field} = '${escapeText(text)}'`
  return `${field} LIKE '%${escapeText(text).replace(/[%_]/g, '\\$&')}%'`
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

export function escapeText(text: string): string {
  return text.replace(/['"\\\n\r\t]/g, (character) => ESCAPES[character] ?? `\\${character}`)
}

const MISQUOTED = /for field '([\w.]+)' must be of type \w+ and should (not )?be enclosed in quotes/

/**
 * Returns the conditions with the quotes that a refusal asks for, or null if the refusal has another reason or the
 * value does not have that type at all. Only Salesforce knows the types of its fields, and reading them first would
 * cost a call for every row.
 */
export function requote<One extends Condition>(conditions: readonly One[], refusal: string): One[] | null {
  const [found, name, not] = MISQUOTED.exec(refusal) ?? []
  if (found === undefined || name === undefined) return null
  const quoted = not === undefined
  const isNamedField = ({ field }: Condition) =>
    field.toLowerCase() === name.toLowerCase() || field.toLowerCase().endsWith(`.${name.toLowerCase()}`)
  const mayChange = (one: Condition) =>
    isNamedField(one) && one.quoted !== quoted && (quoted || LITERAL.test(printValue(one.value)))
  if (!conditions.some(mayChange)) return null
  return conditions.map((one) => (mayChange(one) ? { ...one, quoted } : one))
}
