import { isObject } from '../../lib/json/object.ts'

/** A JSON schema, as a caller writes it or with its references written out. */
export type JsonSchema = Record<string, unknown>

/** Thrown if a schema cannot be used. The message says why, as a phrase that follows "it". */
export class SchemaProblem extends Error {
  override name = 'SchemaProblem'
}

/** The limits of an expanded schema. References are written out, so these limits bound the cost of checking one value. */
const MAX_NODES = 1000
const MAX_LEVELS = 40

const PLAIN = [
  'enum',
  'const',
  'required',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
]
const ONE = ['items', 'additionalProperties', 'contains', 'propertyNames', 'not']
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
/**
 * The keywords that are refused. Otherwise values would pass unchecked, with nothing but the model to follow the schema.
 */
const UNCHECKED = [
  'patternProperties',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependentRequired',
  'dependencies',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
]

/** Returns the schema with local references written out and with the types that it only implies. */
export function expandSchema(root: JsonSchema): JsonSchema {
  let nodes = 0

  const expand = (given: unknown, level: number): JsonSchema => {
    if (typeof given === 'boolean') return given ? {} : { not: {} }
    if (!isObject(given)) throw new SchemaProblem('contains a value that is not a schema')
    nodes += 1
    if (nodes > MAX_NODES || level > MAX_LEVELS) throw new SchemaProblem('is too large, or refers to itself')
    const { $ref: reference, ...rest } = given
    if (typeof reference === 'string') return expand({ ...follow(root, reference), ...rest }, level + 1)
    const unchecked = UNCHECKED.find((key) => key in given)
    if (unchecked !== undefined) throw new SchemaProblem(`uses ${unchecked}, which is not supported`)
    const inner = (part: unknown) => expand(part, level + 1)
    return Object.fromEntries([
      ...typeEntry(given),
      ...pick(given, PLAIN, (part) => part),
      ...pick(given, ONE, (part) => (typeof part === 'boolean' ? part : inner(part))),
      ...pick(given, LISTS, (part) => listOf(part).map(inner)),
      ...propertiesEntry(given, inner),
    ])
  }

  return expand(root, 0)
}

function pick(
  from: JsonSchema,
  keys: string[],
  change: (part: unknown) => unknown,
): (readonly [string, unknown])[] {
  return keys.filter((key) => from[key] !== undefined).map((key) => [key, change(from[key])] as const)
}

/** Returns the properties. A required name without a schema may hold any value. */
function propertiesEntry(given: JsonSchema, inner: (part: unknown) => JsonSchema): [string, JsonSchema][] {
  const { properties = {}, required = [] } = given
  if (!isObject(properties)) throw new SchemaProblem('has properties that are not an object')
  const names = listOf(required).filter((name) => typeof name === 'string')
  const all = new Map([...names.map((name): [string, unknown] => [name, {}]), ...Object.entries(properties)])
  return all.size === 0
    ? []
    : [['properties', Object.fromEntries([...all].map(([name, part]) => [name, inner(part)]))]]
}

function typeEntry(given: JsonSchema): [string, unknown][] {
  const { type, nullable } = given
  if (type === undefined) {
    if ('properties' in given || 'required' in given || 'additionalProperties' in given)
      return [['type', 'object']]
    return 'items' in given || 'prefixItems' in given ? [['type', 'array']] : []
  }
  const types = new Set(Array.isArray(type) ? (type as unknown[]) : [type])
  if (nullable === true) types.add('null')
  return [['type', types.size === 1 ? [...types][0] : [...types]]]
}

function listOf(part: unknown): unknown[] {
  if (!Array.isArray(part)) throw new SchemaProblem('has something else where a list belongs')
  return part
}

/** Returns the part of the schema that a local reference (`#`, `#/$defs/person`) points to. */
function follow(root: JsonSchema, reference: string): JsonSchema {
  if (!/^#(\/|$)/.test(reference))
    throw new SchemaProblem(`refers to ${reference}, which is outside the schema`)
  const steps = reference.split('/').slice(1)
  let place: unknown = root
  for (const step of steps) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    const holder: Record<string, unknown> = typeof place === 'object' && place !== null ? { ...place } : {}
    place = Object.hasOwn(holder, name) ? holder[name] : undefined
  }
  if (!isObject(place)) throw new SchemaProblem(`refers to ${reference}, which is not there`)
  return place
}
