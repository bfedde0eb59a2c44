import { textOf } from '../chain/references.ts'
import { isCustomKey } from './pipedrive.ts'
import type { WireValues } from './values.ts'

/** A record that was found. `emails` and `phones` are those that a person already has. */
export type FoundRecord = { id: number; emails: string[]; phones: string[] }

/** Fields that are lists under another name in version 2 of the API. */
const LISTS: Readonly<Record<string, 'emails' | 'phones'>> = { email: 'emails', phone: 'phones' }
/** Returns true for fields that hold a number, which callers may send as text. */
const isNumeric = (key: string): boolean => /(^|_)id$|^(value|probability|visible_to)$/.test(key)

/** Returns the body of a write. Email and phone become lists, and custom fields are kept apart. */
export function printRecord(values: WireValues, known: FoundRecord | null): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  const custom: Record<string, unknown> = {}
  for (const [key, value] of values) {
    const list = LISTS[key]
    if (isCustomKey(key)) custom[key] = value
    else if (list !== undefined) {
      const printed = printList(value, known?.[list] ?? [])
      if (printed !== null) record[list] = printed
    } else record[key] = isNumeric(key) && /^\d+(\.\d+)?$/.test(textOf(value)) ? Number(textOf(value)) : value
  }
  return Object.keys(custom).length === 0 ? record : { ...record, custom_fields: custom }
}

/**
 * Returns the new list, or null if nothing is new. A write replaces the whole list, so existing entries are kept after
 * the new ones.
 */
function printList(value: unknown, known: readonly string[]): object[] | null {
  const given = (Array.isArray(value) ? value.map(textOf) : [textOf(value)]).filter((one) => one !== '')
  const isKnown = (one: string) => known.some((other) => isSameText(one, other))
  if (given.length > 0 && given.every(isKnown)) return null
  const kept = known.filter((one) => !given.some((other) => isSameText(one, other)))
  return [...given, ...(given.length === 0 ? [] : kept)].map((one, place) => ({
    value: one,
    primary: place === 0,
    label: 'work',
  }))
}

export const isSameText = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()
