import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { SPENDING_WORDS } from '#contract/spending.ts'
import { shorten, validationError, AppError } from '../../lib/errors.ts'
import { fieldErrors, parseInWords, printPath } from '../../lib/field-errors.ts'
import { createHints } from '../../lib/nearest-name.ts'
import { answerRefusal } from './idempotency.ts'

/** Validates body and query and reports all failures at once. Path parameters were checked at admission. */
export async function checkRequest(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { schema, config } = request.routeOptions
  if (request.is404 || schema === undefined) return undefined
  const { querystring, body } = schema as Record<string, z.ZodType | undefined>
  const { bodyName = 'body', furtherErrors } = config
  try {
    if (querystring !== undefined) {
      requireText(request.query)
      request.query = take(request, checkPart(querystring, request.query, 'query'))
    }
  } catch (refusal) {
    return answerRefusal(request, reply, asRefusal(refusal))
  }
  try {
    if (body !== undefined) {
      request.body = take(request, checkPart(body, request.body, bodyName, config))
    }
    return undefined
  } catch (cause) {
    const refusal = asRefusal(cause)
    const further = (await furtherErrors?.(request)) ?? []
    // These errors depend on stored data, which may have changed when the request is sent again, so the
    // refusal is not stored.
    if (further.length > 0) throw validationError([...(refusal.details.errors ?? []), ...further])
    return answerRefusal(request, reply, refusal)
  }
}

/** Refuses NUL characters, which PostgreSQL cannot store in a text. */
function requireText(part: unknown): void {
  const wrong = Object.entries(part ?? {}).filter(([, text]) => String(text).includes('\0'))
  if (wrong.length === 0) return
  throw validationError(wrong.map(([field]) => ({ field, message: 'must not contain NUL characters' })))
}

function take<Value>(request: FastifyRequest, checked: { value: Value; warnings: Warning[] }): Value {
  request.warnings.push(...checked.warnings)
  return checked.value
}

function asRefusal(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  throw cause
}

type Issue = z.core.$ZodIssue

const MAX_WARNINGS = 100
const MAX_FIELD = 300

/**
 * Checks one part of a request. Throws a 400 with every failure at once. Unknown fields are left out and
 * reported as warnings, so that nothing is dropped silently; they are refused where `refuses` requires it.
 * `root` names the part in paths such as `inputs[0].type`.
 */
export function checkPart<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  root: string,
  refuses: Refusing = {},
): { value: Output; warnings: Warning[] } {
  if (value === undefined && !schema.safeParse(undefined).success) value = readMissingPart(schema, root)
  const knownKeys: KnownKeys = new Map()
  const parsed = parseInWords(schema, value, (path, keys) => knownKeys.set(printPath(path, root), keys))
  if (parsed.success) return { value: parsed.data, warnings: [] }

  const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  const cleaned = unknown.length === 0 ? value : withoutKeys(value, unknown)
  const second = unknown.length === 0 ? parsed : parseInWords(schema, cleaned)
  const misspelt = refuseUnknown(unknown, root, knownKeys, refuses)
  if (!second.success || misspelt.length > 0) {
    const issues = keepTightest(second.error?.issues ?? [])
    throw validationError([...issues.flatMap((issue) => fieldErrors(issue, cleaned, root)), ...misspelt])
  }
  return { value: second.data, warnings: warnOfUnknown(unknown, root, knownKeys) }
}

/** Keeps only the tightest limit that a value of a field exceeds, so that each value is one failure (D5). */
function keepTightest(issues: readonly Issue[]): Issue[] {
  const tightest = new Map<string, number>()
  for (const issue of issues) {
    const bound = readLimit(issue)
    const field = limitedField(issue)
    if (bound !== null) tightest.set(field, Math.min(bound, tightest.get(field) ?? bound))
  }
  return issues.filter((issue) => {
    const bound = readLimit(issue)
    return bound === null || bound === tightest.get(limitedField(issue))
  })
}

/**
 * Returns the limit of an issue as a number, smaller for a tighter limit, or null if the issue is not about a
 * limit.
 */
function readLimit(issue: Issue): number | null {
  if (issue.code === 'too_big') return Number(issue.maximum)
  return issue.code === 'too_small' ? -Number(issue.minimum) : null
}

const limitedField = ({ code, path }: Issue): string => JSON.stringify([code, path])

/**
 * Refuses unknown fields that could be misspelled: a misspelled cap must not spend without one (M5), and a
 * misspelled selector must not mean every row (D86).
 */
function refuseUnknown(
  issues: readonly UnknownKeys[],
  root: string,
  known: KnownKeys,
  { spends, selects, exact }: Refusing,
): FieldError[] {
  const isCap = (key: string) => spends === true && SPENDING_WORDS.test(key)
  return issues.flatMap(({ path, keys }) => {
    const hint = createHints(known.get(printPath(path, root)) ?? [])
    return Iterator.from(keys)
      .filter((key) => selects === true || exact === true || isCap(key))
      .take(MAX_WARNINGS)
      .map((key) => ({
        field: shorten(printPath([...path, key], root), MAX_FIELD),
        message: `is not known here${isCap(key) || selects === true ? whyRefused(isCap(key)) : ''}${hint(key)}`,
      }))
      .toArray()
  })
}

const whyRefused = (isCap: boolean) =>
  `, and the request is refused because this field may be meant to ${isCap ? 'limit what is spent' : 'select rows'}`

type Refusing = Pick<FastifyContextConfig, 'spends' | 'selects' | 'exact'>

type UnknownKeys = Extract<Issue, { code: 'unrecognized_keys' }>

/** The known field names by path, for "did you mean" hints. */
type KnownKeys = Map<string, readonly string[]>

function warnOfUnknown(issues: readonly UnknownKeys[], root: string, known: KnownKeys): Warning[] {
  const warnings: Warning[] = []
  let more = 0
  for (const { path, keys } of issues) {
    const named = keys.slice(0, MAX_WARNINGS - warnings.length)
    more += keys.length - named.length
    if (named.length === 0) continue
    const hint = createHints(known.get(printPath(path, root)) ?? [])
    for (const key of named) {
      warnings.push({
        field: shorten(printPath([...path, key], root), MAX_FIELD),
        code: 'unknown_field',
        message: `this field is not known here and was ignored${hint(key)}`,
      })
    }
  }
  if (more > 0) {
    const message = `${more} more fields are not known here and were ignored`
    warnings.push({ field: root, code: 'unknown_field', message })
  }
  return warnings
}

/**
 * Reads a missing body as an object without fields, so that the error names the first required field (D69).
 */
function readMissingPart(schema: z.ZodType, root: string): unknown {
  const issues = schema.safeParse({}).error?.issues ?? []
  if (issues.some((issue) => issue.path.length > 0)) return {}
  throw validationError([{ field: root, message: 'required' }])
}

/** The keys to leave out of a value and of the values within it. */
type Cut = { keys: Set<string>; inside: Map<PropertyKey, Cut> }

function withoutKeys(value: unknown, issues: readonly UnknownKeys[]): unknown {
  const cut: Cut = { keys: new Set(), inside: new Map() }
  for (const { path, keys } of issues) {
    let at = cut
    for (const step of path) {
      const next = at.inside.get(step) ?? { keys: new Set(), inside: new Map() }
      at.inside.set(step, next)
      at = next
    }
    for (const key of keys) at.keys.add(key)
  }
  return applyCut(value, cut)
}

/**
 * Copies only the objects on the path to a removed key, once: the rest may be large, and numbers kept as text
 * are not plain objects.
 */
function applyCut(value: unknown, { keys, inside }: Cut): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value) ? [...value] : keys.size === 0 ? { ...value } : omit(value, keys)
  for (const [step, cut] of inside) Reflect.set(copy, step, applyCut(Reflect.get(value, step), cut))
  return copy
}

/**
 * Copies an object without these keys. It does not build a pair for each key, because an object may have half
 * a million.
 */
function omit(value: object, keys: ReadonlySet<string>): object {
  const kept = Object.keys(value).filter((key) => !keys.has(key))
  return Object.fromEntries(kept.map((key) => [key, Reflect.get(value, key)]))
}
