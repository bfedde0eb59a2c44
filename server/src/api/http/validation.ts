import type { FastifyContextConfig } from 'fastify'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { SPENDING_WORDS } from '#contract/spending.ts'
import { shorten, validationError } from '../../lib/errors.ts'
import { fieldErrors, parseInWords, printPath } from '../../lib/field-errors.ts'
import { createHints } from '../../lib/nearest-name.ts'

type Issue = z.core.$ZodIssue

const MAX_WARNINGS = 100
const MAX_FIELD = 300

/**
 * Checks one part of a request. Throws a 400 with every failure at once. Fields that the schema does not know are left
 * out and reported as warnings, so nothing is dropped in silence, or refused where `refuses` says so. `root` names the part
 * in paths such as `inputs[0].type`.
 */
export function checkPart<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  root: string,
  refuses: Pick<FastifyContextConfig, 'spends' | 'selects'> = {},
): { value: Output; warnings: Warning[] } {
  if (value === undefined && !schema.safeParse(undefined).success) value = insteadOfNothing(schema, root)
  const knownKeys: KnownKeys = new Map()
  const parsed = parseInWords(schema, value, (path, keys) => knownKeys.set(printPath(path, root), keys))
  if (parsed.success) return { value: parsed.data, warnings: [] }

  const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  const cleaned = unknown.length === 0 ? value : withoutKeys(value, unknown)
  const again = unknown.length === 0 ? parsed : parseInWords(schema, cleaned)
  const misspelt = refuseUnknown(unknown, root, knownKeys, refuses)
  if (!again.success || misspelt.length > 0) {
    const issues = tightestOf(again.error?.issues ?? [])
    throw validationError([...issues.flatMap((issue) => fieldErrors(issue, cleaned, root)), ...misspelt])
  }
  return { value: again.data, warnings: warnOfUnknown(unknown, root, knownKeys) }
}

/** A value beyond several bounds of a field is one failure: that of the tightest (D5). */
function tightestOf(issues: readonly Issue[]): Issue[] {
  const tightest = new Map<string, number>()
  for (const issue of issues) {
    const bound = boundOf(issue)
    const field = fieldOfBound(issue)
    if (bound !== null) tightest.set(field, Math.min(bound, tightest.get(field) ?? bound))
  }
  return issues.filter((issue) => {
    const bound = boundOf(issue)
    return bound === null || bound === tightest.get(fieldOfBound(issue))
  })
}

/** The less, the tighter; null for what is no bound. */
function boundOf(issue: Issue): number | null {
  if (issue.code === 'too_big') return Number(issue.maximum)
  return issue.code === 'too_small' ? -Number(issue.minimum) : null
}

const fieldOfBound = ({ code, path }: Issue): string => JSON.stringify([code, path])

/** A misspelt cap must not spend without one (M5), and a misspelt selector must not mean every row (D86). */
function refuseUnknown(
  issues: readonly UnknownKeys[],
  root: string,
  known: KnownKeys,
  { spends, selects }: Pick<FastifyContextConfig, 'spends' | 'selects'>,
): FieldError[] {
  const isCap = (key: string) => spends === true && SPENDING_WORDS.test(key)
  return issues.flatMap(({ path, keys }) => {
    const hint = createHints(known.get(printPath(path, root)) ?? [])
    return Iterator.from(keys)
      .filter((key) => selects === true || isCap(key))
      .take(MAX_WARNINGS)
      .map((key) => ({
        field: shorten(printPath([...path, key], root), MAX_FIELD),
        message: `is not known here, and nothing is done while it may be meant to ${isCap(key) ? 'limit what is spent' : 'select rows'}${hint(key)}`,
      }))
      .toArray()
  })
}

type UnknownKeys = Extract<Issue, { code: 'unrecognized_keys' }>

/** What could have been meant, by where it stands. */
type KnownKeys = Map<string, readonly string[]>

function warnOfUnknown(issues: readonly UnknownKeys[], root: string, known: KnownKeys): Warning[] {
  const warnings: Warning[] = []
  let more = 0
  for (const { path, keys } of issues) {
    const told = keys.slice(0, MAX_WARNINGS - warnings.length)
    more += keys.length - told.length
    if (told.length === 0) continue
    const hint = createHints(known.get(printPath(path, root)) ?? [])
    for (const key of told) {
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

/** A body that is missing is read as an object without fields, so that the first missing one is named (D69). */
function insteadOfNothing(schema: z.ZodType, root: string): unknown {
  const issues = schema.safeParse({}).error?.issues ?? []
  if (issues.some((issue) => issue.path.length > 0)) return {}
  throw validationError([{ field: root, message: 'required' }])
}

/** Names the keys to leave out of a value and of the values within it. */
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

/** Copies only what lies on the way, once: the rest may be large, and numbers that are kept as texts are no plain objects. */
function applyCut(value: unknown, { keys, inside }: Cut): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = Array.isArray(value) ? [...value] : keys.size === 0 ? { ...value } : omit(value, keys)
  for (const [step, cut] of inside) Reflect.set(copy, step, applyCut(Reflect.get(value, step), cut))
  return copy
}

/** Makes no pair for each key: an object may have half a million of them. */
function omit(value: object, keys: ReadonlySet<string>): object {
  const kept = Object.keys(value).filter((key) => !keys.has(key))
  return Object.fromEntries(kept.map((key) => [key, Reflect.get(value, key)]))
}
