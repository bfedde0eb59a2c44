import { plural } from './figure.ts'

/** Formats a value for people: text unchanged, null as an empty text, anything else as JSON with the given indent. */
export function valueText(value: unknown, indent = 0): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, indent)
}

/** Prints a value for people in one line: lists by their items, objects by their fields, and what is deeper by its size. */
export function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(printPart).join(', ')
  if (typeof value !== 'object' || value === null) return valueText(value)
  return Object.entries(value)
    .map(([name, part]) => `${name}: ${printPart(part)}`)
    .join(', ')
}

function printPart(value: unknown): string {
  if (Array.isArray(value)) return plural(value.length, 'item')
  if (typeof value !== 'object' || value === null) return valueText(value)
  return plural(Object.keys(value).length, 'field')
}
