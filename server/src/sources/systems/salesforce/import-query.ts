import { printValue } from '../../../catalog/crm/field-values.ts'
import { type Condition, escapeText, toConditions } from '../../../catalog/crm/soql.ts'
import type { Filter, FilterOperator } from '../../filters.ts'

/** The record after which a query starts, or a moment if there is no id. */
export type Place = { at: string; id: string | null }

type FilterCondition = Condition & { operator: FilterOperator; group: number }

type Import = {
  object: string
  fields: readonly string[]
  conditions: readonly FilterCondition[]
  after: Place | null
}

/** Makes one condition for each value, so that each value can be quoted as its field requires. */
export function toFilterConditions(filters: readonly Filter[]): FilterCondition[] {
  return filters.flatMap(({ field, operator, values }, group) =>
    (values.length === 0 ? [null] : values).flatMap((value) =>
      toConditions(new Map([[field, value]])).map((one) => ({ ...one, operator, group })),
    ),
  )
}

/**
 * Prints the query for records after a position, in the order of their changes. Names were checked before; values are
 * escaped here.
 */
export function printImport({ object, fields, conditions, after }: Import): string {
  const select = [...new Set(['Id', 'SystemModstamp', ...fields])].join(', ')
  const groups = Object.values(Object.groupBy(conditions, ({ group }) => String(group)))
  const where = [
    ...groups.map((group = []) => `(${group.map(printCondition).join(' OR ')})`),
    ...(after === null ? [] : [printPlace(after)]),
  ]
  const filter = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
  return `SELECT ${select} FROM ${object}${filter} ORDER BY SystemModstamp, Id`
}

function printPlace({ at, id }: Place): string {
  if (id === null) return `SystemModstamp >= ${at}`
  return `(SystemModstamp > ${at} OR (SystemModstamp = ${at} AND Id > '${escapeText(id)}'))`
}

const OPERATORS: Readonly<Record<FilterOperator, string>> = {
  'is equal to': '=',
  'not equal to': '!=',
  'is any of': '=',
  contains: 'LIKE',
  'greater than': '>',
  'greater than or equal to': '>=',
  'less than': '<',
  'less than or equal to': '<=',
  'is empty': '=',
  'not empty': '!=',
}

function printCondition({ field, operator, value, quoted }: FilterCondition): string {
  if (value === null) return `${field} ${OPERATORS[operator]} null`
  const text = printValue(value)
  if (operator === 'contains') return `${field} LIKE '%${escapeText(text).replace(/[%_]/g, '\\$&')}%'`
  return `${field} ${OPERATORS[operator]} ${quoted ? `'${escapeText(text)}'` : text}`
}
