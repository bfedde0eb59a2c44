import { isObject } from '../lib/json/object.ts'

/** A column of a list of records is the list of its values, null where a record lacks it. Null where there is no list. */
export function pickColumn(list: unknown, column: string): unknown[] | null {
  if (!Array.isArray(list)) return null
  return list.map((item: unknown) => (isObject(item) && Object.hasOwn(item, column) ? item[column] : null))
}
