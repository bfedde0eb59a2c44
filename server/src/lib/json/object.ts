import { NumberText } from './lossless-json.ts'

/** Whether a value of JSON is an object: no list, and no number that is kept as its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}
