import { NumberText } from './lossless-json.ts'

/** Returns true if a JSON value is an object: not a list, and not a number that is kept as its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}
