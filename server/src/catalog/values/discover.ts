import { parseInstant } from '#contract/instant.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import type { OutputType } from '../outputs.ts'
import { fitsToken } from './output-names.ts'

/**
 * An output that was found in the result of a run, in its stored form. References are added when the output is described.
 */
export type Discovered = {
  name: string
  type: OutputType
  columns?: { name: string; type: OutputType }[]
  /** Set if the value was null. The type is not known yet, and "string" is only shown. */
  anyType?: true
}

const MAX_ITEMS = 1000
const MAX_NAMES = 1000

/** Returns the outputs of a completed cell and their types. Names that no token can contain are left out. */
export function discoverOutputs(outputs: Record<string, unknown>): Discovered[] {
  return Object.entries(outputs)
    .filter(([name]) => fitsToken(name) && !name.includes('.'))
    .slice(0, MAX_NAMES)
    .map(([name, value]): Discovered => {
      if (isTable(value)) {
        return { name, type: 'structured_array', columns: discoverColumns(value.slice(0, MAX_ITEMS)) }
      }
      const type = typeOfValue(value)
      return type === undefined ? { name, type: 'string', anyType: true } : { name, type }
    })
}

function isTable(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject)
}

function discoverColumns(items: Record<string, unknown>[]): { name: string; type: OutputType }[] {
  const types = new Map<string, OutputType | undefined>()
  for (const item of items) {
    for (const [name, value] of Object.entries(item)) {
      if (types.size >= MAX_NAMES && !types.has(name)) continue
      types.set(name, joinTypes(types.get(name), typeOfValue(value)))
    }
  }
  return [...types]
    .filter(([name]) => fitsToken(name))
    .map(([name, type]) => ({ name, type: type ?? 'string' }))
}

/** Returns the type of a value, or undefined for null, which can stand for any type. */
function typeOfValue(value: unknown): OutputType | undefined {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return 'raw_array'
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberText) return 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? typeOfText(value) : 'json'
}

function typeOfText(text: string): OutputType {
  if (/^https?:\/\/\S+$/i.test(text) && URL.canParse(text)) return 'url'
  if (parseInstant(text) !== null) return 'date'
  return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text) ? 'email' : 'string'
}

/** Returns a type that fits both items of a column. */
function joinTypes(a: OutputType | undefined, b: OutputType | undefined): OutputType | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b
  return [a, b].some((type) => type === 'json' || type === 'raw_array') ? 'json' : 'string'
}
