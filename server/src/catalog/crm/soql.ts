import { NumberText } from '../../lib/json/lossless-json.ts'
import { type FieldValue, type FieldValues, printValue } from './field-values.ts'

export type Query = {
  object: string
  /** All fields when there are none. */
  select: readonly string[]
  conditions: readonly Condition[]
  operator: 'AND' | 'OR'
  exact: boolean
  limit: number
  /** Only records that were created since. */
  since?: Date
}

/** SOQL writes texts in quotes, and numbers, dates and booleans without. */
export type Condition = { field: string; value: FieldValue; quoted: boolean }

const NAME = /^[A-Za-z]\w*$/
const PATH = /^[A-Za-z]\w*(\.[A-Za-z]\w*)*$/
const LITERAL = /^(-?\d+(\.\d+)?|true|false|\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d))?)$/i

/** Names stand in queries and addresses as they are: what is none never gets there. */
export const isName = (text: string): boolean => NAME.test(text)
/** A field, or one of a record that it refers to, as `Account.Name`. */
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
 * The conditions as a refusal asks for them: only Salesforce knows the types of its fields, and asking for them first would
 * cost a call for every row. Null when the refusal is about something else, or the value is not of that type at all.
 */
export function requote<One extends Condition>(conditions: readonly One[], refusal: string): One[] | null {
  const [found, name, not] = MISQUOTED.exec(refusal) ?? []
  if (found === undefined || name === undefined) return null
  const quoted = not === undefined
  const isMeant = ({ field }: Condition) =>
    field.toLowerCase() === name.toLowerCase() || field.toLowerCase().endsWith(`.${name.toLowerCase()}`)
  const mayChange = (one: Condition) =>
    isMeant(one) && one.quoted !== quoted && (quoted || LITERAL.test(printValue(one.value)))
  if (!conditions.some(mayChange)) return null
  return conditions.map((one) => (mayChange(one) ? { ...one, quoted } : one))
}
