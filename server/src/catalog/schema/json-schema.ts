import { z } from 'zod'
import { parseInWords, valueAt } from '../../lib/field-errors.ts'
import { withPlainNumbers } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { variableName } from '../formula/binding.ts'
import type { Sandbox } from '../formula/sandbox.ts'
import { expandSchema, type JsonSchema, SchemaProblem } from './schema-expansion.ts'

export type { JsonSchema }

/** Returns the faults of a value, one line for each, or an empty list if it fits. */
export type CheckValue = (value: unknown, sandbox: Sandbox) => Promise<string[]>

export type CompiledSchema = { ok: true; check: CheckValue } | { ok: false; message: string }

const MAX_LINES = 20
const MAX_PATTERNS = 500
const PATTERNS_MS = 1000

/**
 * Compiles a JSON schema to a check, or returns why the schema cannot be used. The message is a phrase that follows "it".
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  try {
    // A stored schema may hold numbers as text digits.
    const expanded = withPlainNumbers(expandSchema(schema)) as JsonSchema
    const shape = z.fromJSONSchema(withoutPatterns(expanded), { registry: z.registry() })
    const patterned = JSON.stringify(expanded).includes('"pattern":')
    return { ok: true, check: (value, sandbox) => check(shape, patterned ? expanded : null, value, sandbox) }
  } catch (cause) {
    if (cause instanceof SchemaProblem) return { ok: false, message: cause.message }
    // zod throws a plain Error for a keyword that it does not support.
    const reason = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, message: `cannot be checked: ${reason.slice(0, 200)}` }
  }
}

async function check(
  shape: z.ZodType,
  patterned: JsonSchema | null,
  value: unknown,
  sandbox: Sandbox,
): Promise<string[]> {
  const parsed = parseInWords(shape, value)
  if (!parsed.success)
    return parsed.error.issues.slice(0, MAX_LINES).map((issue) => describeIssue(issue, value))
  return patterned === null ? [] : checkPatterns(listPatterns(patterned, value, '$'), sandbox)
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const reason = valueAt(value, issue.path) === undefined ? 'is missing' : reasonOf(issue)
  return `${printPath(issue.path)}: ${reason}`
}

/** Returns the reason of an issue. For a union, the reasons of its branches say more than its own. */
function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_union') return issue.message
  const reasons = issue.errors.flatMap(([first]) => (first === undefined ? [] : [reasonOf(first)]))
  return reasons.length === 0 ? issue.message : [...new Set(reasons)].slice(0, 5).join(', or ')
}

function printPath(path: readonly PropertyKey[]): string {
  return ['$', ...path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))].join('')
}

/**
 * Returns a schema without its patterns. A caller's regular expression can run without end, so it is checked in the
 * sandbox.
 */
function withoutPatterns(schema: JsonSchema): JsonSchema {
  const strip = (part: unknown, isMap: boolean): unknown => {
    if (Array.isArray(part)) return part.map((item: unknown) => strip(item, false))
    if (!isObject(part)) return part
    return Object.fromEntries(
      Object.entries(part).flatMap(([key, inner]) => {
        if (!isMap && key === 'pattern') return readPattern(inner)
        return [[key, !isMap && VALUES.has(key) ? inner : strip(inner, !isMap && key === 'properties')]]
      }),
    )
  }
  return strip(schema, false) as JsonSchema
}

/** The keywords whose value is data, even if it looks like a schema. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'required'])

function readPattern(pattern: unknown): [] {
  if (typeof pattern !== 'string') throw new SchemaProblem('has a pattern that is no text')
  if (!isRegExp(pattern))
    throw new SchemaProblem(`has a pattern that is no regular expression: ${pattern.slice(0, 100)}`)
  return []
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

type PatternCheck = { path: string; pattern: string; text: string }

/**
 * Returns the patterns that apply to a value, with the texts to check. Among alternatives, a pattern applies only if the
 * type of the value leaves exactly one.
 */
function listPatterns(schema: unknown, value: unknown, path: string): PatternCheck[] {
  if (!isObject(schema)) return []
  const { pattern, properties, items, additionalProperties } = schema
  const found: PatternCheck[] =
    typeof pattern === 'string' && typeof value === 'string' ? [{ path, pattern, text: value }] : []
  for (const part of asList(schema['allOf'])) found.push(...listPatterns(part, value, path))
  for (const key of ['anyOf', 'oneOf']) {
    const [only, ...more] = asList(schema[key]).filter((part) => admits(part, value))
    if (more.length === 0) found.push(...listPatterns(only, value, path))
  }
  if (Array.isArray(value)) {
    value.forEach((item: unknown, n) => found.push(...listPatterns(items, item, `${path}[${n}]`)))
  } else if (isObject(value)) {
    const known = isObject(properties) ? properties : {}
    for (const [name, part] of Object.entries(value)) {
      const inner = Object.hasOwn(known, name) ? known[name] : additionalProperties
      found.push(...listPatterns(inner, part, `${path}.${name}`))
    }
  }
  return found
}

function admits(schema: unknown, value: unknown): boolean {
  const type = isObject(schema) ? schema['type'] : undefined
  const types = Array.isArray(type) ? type : [type]
  return types.includes(undefined) || types.includes(typeOf(value))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function asList(part: unknown): unknown[] {
  return Array.isArray(part) ? part : []
}

async function checkPatterns(checks: PatternCheck[], sandbox: Sandbox): Promise<string[]> {
  const some = checks.slice(0, MAX_PATTERNS)
  if (some.length === 0) return []
  const pairs = some.map(({ pattern, text }) => [pattern, text])
  const code = `JSON.stringify(${variableName(0)}.map(([p, t]) => new RegExp(p).test(t)))`
  const answer = await sandbox.evaluate(code, [pairs], { timeoutMs: PATTERNS_MS })
  if (!answer.ok) return [`$: the patterns could not be checked: ${answer.message}`]
  const fits: unknown[] = JSON.parse(answer.text)
  return some
    .filter((_, n) => fits[n] !== true)
    .slice(0, MAX_LINES)
    .map(({ path, pattern }) => `${path}: must match the pattern ${pattern}`)
}
