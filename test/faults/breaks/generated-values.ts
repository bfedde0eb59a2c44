import type { Json } from '#test/plumbing/harness.ts'

const MAX_DEPTH = 6

/** Values that often cause errors in programs. */
const HOSTILE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'valueOf',
  "' or 1=1 --",
  '{{input.a}}',
  '{{',
  '../../etc/passwd',
  '%00',
  '9'.repeat(200_000),
  'x'.repeat(70_000),
  'é'.repeat(300),
  '2026-02-30T25:61:00Z',
  '99999-01-01T00:00:00Z',
  'http://[::1]:1/',
  [],
  {},
  [[[[[[]]]]]],
  [null],
  Array.from({ length: 2000 }, (_, n) => n),
  { toString: 1, valueOf: null },
  Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])),
  JSON.parse('{"__proto__":{"polluted":true}}'),
]

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * Creates values that a JSON schema allows, and spoils them. The same numbers of `random` create the same
 * values.
 */
export function createValues(schemas: Record<string, Json>, random: () => number) {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const chance = (share: number) => random() < share
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))

  function text(schema: Json): string {
    const digits = (length: number) => Array.from({ length }, () => whole(0, 15).toString(16)).join('')
    if (schema.format === 'uuid') return `${digits(8)}-${digits(4)}-7${digits(3)}-8${digits(3)}-${digits(12)}`
    if (schema.format === 'date-time') return new Date(whole(0, 4_000_000_000) * 1000).toISOString()
    if (schema.format === 'email') return `p${whole(0, 99)}@example.com`
    if (schema.format === 'uri') return `http://127.0.0.1:1/${digits(4)}`
    const length = Math.max(schema.minLength ?? 0, Math.min(schema.maxLength ?? 12, whole(1, 12)))
    return Array.from({ length }, () => pick(['a', 'b', 'c', '_', '1', ' ', 'é'])).join('')
  }

  function make(schema: Json, depth = 0): unknown {
    if (schema === undefined || schema === true || schema === null) return pick(HOSTILE.slice(0, 12))
    if (schema.$ref !== undefined) return make(schemas[schema.$ref.split('/').at(-1)], depth + 1)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return make(pick(choices), depth + 1)
    if (schema.allOf !== undefined)
      return Object.assign({}, ...schema.allOf.map((part: Json) => make(part, depth + 1)))
    const type = Array.isArray(schema.type) ? pick(schema.type) : schema.type
    switch (type) {
      case 'string':
        return text(schema)
      case 'integer':
      case 'number':
        return whole(Math.max(schema.minimum ?? 0, -1000), Math.min(schema.maximum ?? 1000, 1_000_000))
      case 'boolean':
        return chance(0.5)
      case 'null':
        return null
      case 'array': {
        const length = depth > MAX_DEPTH ? (schema.minItems ?? 0) : whole(schema.minItems ?? 0, 3)
        return Array.from({ length }, () => make(schema.items, depth + 1))
      }
      case 'object':
      default:
        return makeObject(schema, depth)
    }
  }

  function makeObject(schema: Json, depth: number): Record<string, unknown> {
    const made: Record<string, unknown> = {}
    for (const [name, property] of Object.entries<Json>(schema.properties ?? {})) {
      const isRequired = schema.required?.includes(name) === true
      if (isRequired || (depth <= MAX_DEPTH && chance(0.4))) made[name] = make(property, depth + 1)
    }
    if (schema.additionalProperties instanceof Object && chance(0.5)) {
      made[pick(['a', 'input.a', 'x y'])] = make(schema.additionalProperties, depth + 1)
    }
    return made
  }

  /** Returns the same value with one place of it spoiled. */
  function spoil(value: unknown): unknown {
    if (chance(0.25) || typeof value !== 'object' || value === null) return pick(HOSTILE)
    if (Array.isArray(value)) {
      if (value.length === 0 || chance(0.2)) return [...(value as unknown[]), pick(HOSTILE)]
      return value.with(whole(0, value.length - 1), spoil(pick(value as unknown[])))
    }
    const entries = Object.entries(value)
    if (entries.length === 0 || chance(0.15)) return { ...value, [textOf(pick(HOSTILE))]: pick(HOSTILE) }
    const [name, inner] = pick(entries)
    if (chance(0.2)) return Object.fromEntries(entries.filter(([other]) => other !== name))
    return { ...value, [name]: spoil(inner) }
  }

  return { make, spoil, pick, chance, hostileText: () => textOf(pick(HOSTILE)).slice(0, 2000) }
}
