import { ValueType } from '#contract/records.ts'
import { NumberText, parseLossless } from '../lib/json/lossless-json.ts'

export type { ValueType }
export const VALUE_TYPES = ValueType.options

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/

export function typeOfValue(value: unknown): ValueType {
  if (typeof value === 'string') return DATE.test(value) && !Number.isNaN(Date.parse(value)) ? 'date' : 'text'
  if (typeof value === 'number' || value instanceof NumberText) return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'json'
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Reads a text of a file as a value of the type. Returns undefined if it is not of that type. */
export function readValue(text: string, type: ValueType): unknown {
  const trimmed = text.trim()
  if (type === 'text') return text
  if (type === 'number') return NUMBER.test(trimmed) ? new NumberText(trimmed) : undefined
  if (type === 'boolean') return { true: true, false: false }[trimmed.toLowerCase()]
  if (type === 'date') return typeOfValue(trimmed) === 'date' ? trimmed : undefined
  try {
    return parseLossless(trimmed)
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}
