import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { EntityKind } from '#contract/records.ts'
import { Combinator, ConditionLeaf, must, type Parsed } from '../../catalog/chain/condition-shape.ts'
import { printPath } from '../../lib/field-errors.ts'
import { isObject } from '../../lib/json/object.ts'

const MAX_CONDITIONS = 50
const MAX_COUNT = 1000
const MAX_DAYS = 3650
const MAX_TEXT = 2000

const name = z
  .string(must('a string'))
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
const count = (min: number) =>
  z
    .int(must('a whole number'))
    .min(min, `must be at least ${min}`)
    .max(MAX_COUNT, `must be at most ${MAX_COUNT}`)
    .optional()

const bounds = { at_least: count(0), at_most: count(0), combinator: Combinator }
type Bounds = { at_least?: number | undefined; at_most?: number | undefined }

function checkBounds({ value, issues }: z.core.ParsePayload<Bounds>): void {
  const { at_least, at_most } = value
  const refuse = (path: string, message: string) =>
    issues.push({ code: 'custom', path: [path], message, input: value })
  if (at_least === 0 && at_most === undefined) {
    refuse('at_least', 'must be at least 1, unless at_most is given')
  }
  if ((at_least ?? 0) > (at_most ?? MAX_COUNT)) refuse('at_most', 'must not be less than at_least')
}

/**
 * A condition on events of a type: their number, and the days before now. Without bounds there must be at least one.
 */
const EventCondition = z
  .strictObject(
    {
      event: name,
      within_days: z
        .number(must('a number'))
        .positive('must be more than 0')
        .max(MAX_DAYS, `must be at most ${MAX_DAYS}`)
        .optional(),
      ...bounds,
    },
    must('an object'),
  )
  .check(checkBounds)
export type EventCondition = z.output<typeof EventCondition>

const conditionsOf = <Condition>(condition: z.ZodType<Condition>) =>
  z
    .array(
      z.strictObject(
        {
          conditions: z.array(condition, must('an array')).min(1, 'must hold at least one condition'),
          combinator: Combinator,
        },
        must('an object'),
      ),
      must('an array of condition groups'),
    )
    .min(1, 'must hold at least one condition group')

/** Parses a condition by the schema of its key, so that errors use the terms of that kind of condition. */
const byKey = <Condition>(choose: (raw: Record<string, unknown>) => z.ZodType<Condition>) =>
  z.unknown().transform((raw, context): Condition => {
    const parsed = choose(isObject(raw) ? raw : {}).safeParse(raw)
    if (parsed.success) return parsed.data
    for (const issue of parsed.error.issues) {
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
      for (const key of unknown) {
        context.addIssue({ code: 'custom', path: [...issue.path, key], message: 'not accepted' })
      }
      if (unknown.length === 0) context.addIssue({ code: 'custom', path: issue.path, message: issue.message })
    }
    return z.NEVER
  })

const PlainCondition = byKey<ConditionLeaf | EventCondition>((raw) =>
  'event' in raw ? EventCondition : ConditionLeaf,
)
const Where = conditionsOf(PlainCondition)

/**
 * A condition on the entities that this one is related to (`to`), or that are related to it (`from`), and that fulfil
 * `where`.
 */
const RelationshipCondition = z
  .strictObject(
    {
      relationship: name,
      to: EntityKind.optional(),
      from: EntityKind.optional(),
      where: Where.optional(),
      ...bounds,
    },
    must('an object'),
  )
  .refine(({ to, from }) => (to === undefined) !== (from === undefined), {
    path: ['to'],
    error: `must name the kind at the other end (${EntityKind.options.join(', ')}), as \`to\` or as \`from\``,
  })
  .check(checkBounds)
export type RelationshipCondition = z.output<typeof RelationshipCondition>

export type Condition = ConditionLeaf | EventCondition | RelationshipCondition
export type Group<One extends Condition = Condition> = {
  conditions: One[]
  combinator?: 'AND' | 'OR' | undefined
}
export type Filter = Group[]

const FilterShape = conditionsOf(
  byKey<Condition>((raw) => ('relationship' in raw ? RelationshipCondition : choosePlain(raw))),
)
function choosePlain(raw: Record<string, unknown>): z.ZodType<ConditionLeaf | EventCondition> {
  return 'event' in raw ? EventCondition : ConditionLeaf
}

/** Parses a filter (D62). Returns all errors at once, each with its path. */
export function parseFilter(raw: unknown): Parsed<Filter> {
  const parsed = FilterShape.safeParse(raw)
  if (!parsed.success) return { ok: false, errors: parsed.error.issues.map(describeIssue) }
  const conditions = listConditions(parsed.data)
  if (conditions.length > MAX_CONDITIONS) {
    return {
      ok: false,
      errors: [{ field: 'filter', message: `must hold at most ${MAX_CONDITIONS} conditions` }],
    }
  }
  const errors = conditions.flatMap(({ place, condition }) => {
    const texts = 'variable' in condition ? (condition.values ?? []) : []
    return texts.some((text) => text.length > MAX_TEXT)
      ? [{ field: `${place}.values`, message: `must have at most ${MAX_TEXT} characters` }]
      : []
  })
  return errors.length > 0 ? { ok: false, errors } : { ok: true, value: parsed.data }
}

function describeIssue({ path, message }: z.core.$ZodIssue): FieldError {
  return { field: printPath(path, 'filter'), message }
}

/** Lists all conditions with their paths, including those in `where`. */
function listConditions(
  filter: readonly Group[],
  path = 'filter',
): { place: string; condition: Condition }[] {
  return filter.flatMap(({ conditions }, outer) =>
    conditions.flatMap((condition, inner) => {
      const place = `${path}[${outer}].conditions[${inner}]`
      const where = 'relationship' in condition ? (condition.where ?? []) : []
      return [{ place, condition }, ...listConditions(where, `${place}.where`)]
    }),
  )
}

export type CountBounds = { atLeast: number; atMost: number }

/** Returns the allowed counts. `at_most` alone also allows zero. */
export function toCountBounds({ at_least, at_most }: Bounds): CountBounds {
  return { atLeast: at_least ?? (at_most === undefined ? 1 : 0), atMost: at_most ?? Infinity }
}

/** Returns the kind at the other end of a relationship, and the direction from the entity itself. */
export function otherEnd({ to, from }: RelationshipCondition): {
  kind: EntityKind
  direction: 'to' | 'from'
} {
  if (to !== undefined) return { kind: to, direction: 'to' }
  if (from !== undefined) return { kind: from, direction: 'from' }
  throw new Error('a relationship without its other end was stored')
}
