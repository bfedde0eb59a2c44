import { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { numberToText } from '#contract/number-text.ts'
import { operatorSchema, checkSearchText } from '#contract/operators.ts'
import { isObject } from '../../lib/json/object.ts'
import { OPERATORS, valuesNeeded } from './condition-operators.ts'

/** Returns the messages for a missing value and for one of another type. */
export const must = (what: string) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'required' : `must be ${what}`),
})

export const Combinator = z
  .string(must('AND or OR'))
  .toUpperCase()
  .pipe(z.enum(['AND', 'OR'], must('AND or OR')))
  .optional()

// A pipe into a string, and not a bare transform, so that a JSON schema can be made of both sides.
const value = z
  .preprocess(
    numberToText,
    z.union([z.string(), z.number(), z.boolean()], must('a string, number or boolean')),
  )
  .transform(String)
  .pipe(z.string())

const operator = operatorSchema(OPERATORS)
const countable = z.object({ operator, values: z.array(z.unknown()).optional() })

/** A condition. `variable` is a token in run_if and path filters, and a plain field name in segments (D62). */
export const ConditionLeaf = z
  .strictObject(
    {
      variable: z.string(must('a string')).refine((text) => text.trim() !== '', 'required'),
      operator,
      values: z.array(value, must('an array')).optional(),
      combinator: Combinator,
    },
    must('an object'),
  )
  .refine((leaf) => holdsItsValues(leaf), {
    path: ['values'],
    error: ({ input }) => {
      const { operator, values } = countable.parse(input)
      if (!values) return 'required'
      return valuesNeeded(operator) === 2 ? 'must hold exactly two values' : 'must hold exactly one value'
    },
    // Runs even if the leaf has other errors, since all errors are reported together.
    when: ({ value }) => countable.safeParse(value).success,
  })
  .check((context) => {
    const { operator, values = [] } = context.value
    const message = checkSearchText(operator, values)
    if (message !== undefined)
      context.issues.push({ code: 'custom', input: values, path: ['values'], message })
  })
export type ConditionLeaf = z.output<typeof ConditionLeaf>

export const ConditionGroup = z.strictObject(
  {
    conditions: z.array(ConditionLeaf, must('an array')).min(1, 'must hold at least one condition'),
    combinator: Combinator,
  },
  must('an object'),
)
export type ConditionGroup = z.output<typeof ConditionGroup>

/** A list of groups that may be empty. The owner of the field decides if that is an error. */
const ConditionGroups = z.array(ConditionGroup, must('an array'))

export const RunIf = z.strictObject(
  {
    conditions: ConditionGroups.min(1, 'must hold at least one condition group'),
    continue_workflow_if_run_condition_not_met: z.boolean(must('true or false')).optional(),
  },
  must('an object'),
)
export type RunIf = z.output<typeof RunIf>

type Read<T> = { ok: true; value: T; warnings?: Warning[] }
type Refused = { ok: false; errors: FieldError[] }
export type Parsed<T> = Read<T> | Refused
export type ParsedRunIf = (Read<RunIf | null> & { deprecated: boolean }) | Refused

/**
 * Reads a run_if into its nested form. `{}` means no condition and becomes null. `deprecated` is true if the flat form,
 * one bare leaf, was sent (D60). The caller handles a raw null, which clears the condition.
 */
export function parseRunIf(raw: unknown, path = 'run_if'): ParsedRunIf {
  const flat = isFlat(raw)
  if (isObject(raw) && Object.keys(raw).length === 0) return { ok: true, value: null, deprecated: false }
  const parsed = parseConditions(RunIf, flat ? nest(raw) : raw, path, flat)
  return parsed.ok ? { ...parsed, deprecated: flat } : parsed
}

/** Reads the value of a path_filter or the filter of a segment: an array of groups, as in `run_if.conditions`. */
export function parseConditionGroups(raw: unknown, path: string): Parsed<ConditionGroup[]> {
  return parseConditions(ConditionGroups, raw, path, false)
}

/** The keys that conditions have somewhere. In the wrong place such a key is an error and is not ignored. */
const KEYS = new Set([RunIf, ConditionGroup, ConditionLeaf].flatMap(({ shape }) => Object.keys(shape)))

/** Parses conditions. A key that no condition has is ignored with a warning (D32). */
function parseConditions<T>(schema: z.ZodType<T>, raw: unknown, path: string, flat: boolean): Parsed<T> {
  const parsed = schema.safeParse(raw)
  if (parsed.success) return { ok: true, value: parsed.data }
  const warnings: Warning[] = []
  let uncounted = 0
  const errors = parsed.error.issues.flatMap((issue): FieldError[] => {
    const fieldOf = (...key: string[]) => fieldAt(path, [...issue.path, ...key], flat)
    if (issue.code !== 'unrecognized_keys') return [{ field: fieldOf(), message: issue.message }]
    for (const key of issue.keys) {
      if (KEYS.has(key)) continue
      if (warnings.length >= MAX_WARNINGS) uncounted += 1
      else warnings.push({ field: fieldOf(key), code: 'unknown_field', message: IGNORED })
    }
    const misplaced = issue.keys.filter((key) => KEYS.has(key))
    return misplaced.map((key) => ({ field: fieldOf(key), message: 'not accepted' }))
  })
  if (errors.length > 0) return { ok: false, errors }
  if (uncounted > 0)
    warnings.push({ field: path, code: 'unknown_field', message: `${IGNORED}, as were ${uncounted} more` })
  return { ok: true, value: schema.parse(withoutUnknownKeys(raw)), warnings }
}

/** The most warnings for one configuration. One more warning counts the rest. */
const MAX_WARNINGS = 100
const IGNORED = 'conditions have no such field; it was ignored'

function withoutUnknownKeys(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutUnknownKeys)
  if (!isObject(part)) return part
  const known = Object.entries(part).filter(([key]) => KEYS.has(key))
  return Object.fromEntries(
    known.map(([key, value]) => [key, key === 'conditions' ? withoutUnknownKeys(value) : value]),
  )
}

function holdsItsValues({ operator, values }: z.output<typeof countable>): boolean {
  const needed = valuesNeeded(operator)
  return needed === 0 || values?.length === needed
}

function isFlat(raw: unknown): raw is Record<string, unknown> {
  return (
    isObject(raw) && !('conditions' in raw) && ('variable' in raw || 'operator' in raw || 'values' in raw)
  )
}

function nest({
  continue_workflow_if_run_condition_not_met: continueIfNotMet,
  ...leaf
}: Record<string, unknown>): unknown {
  return {
    conditions: [{ conditions: [leaf] }],
    ...(continueIfNotMet === undefined
      ? {}
      : { continue_workflow_if_run_condition_not_met: continueIfNotMet }),
  }
}

/**
 * Returns the path of a field for a message. The sender of a flat form does not know the `conditions[0].conditions[0]`
 * that it was nested in.
 */
function fieldAt(path: string, keys: readonly PropertyKey[], flat: boolean): string {
  const shown = flat && keys[0] === 'conditions' ? keys.slice(4) : keys
  return shown.reduce<string>(
    (field, key) => (typeof key === 'number' ? `${field}[${key}]` : `${field}.${String(key)}`),
    path,
  )
}
