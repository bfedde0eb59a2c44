import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { Credits } from '#contract/numbers.ts'
import { DryRun } from '#contract/spending.ts'
import { Name } from '#contract/text.ts'
import { AppError, validationError } from '../lib/errors.ts'
import { fieldErrors, parseInWords } from '../lib/field-errors.ts'
import { isObject } from '../lib/json/object.ts'
import { makeStorable } from '../lib/json/storable.ts'
import { readCron } from '../lib/timing/cron.ts'
import type { Source } from './define.ts'

export const MAX_PREVIEW = 100
/** Rows of a preview that the installation pays a provider or a model for. */
export const MAX_PAID_PREVIEW = 5
export const EVERY = ['hourly', 'daily', 'weekly'] as const

const Count = z.int().min(1).max(10_000_000)

const EVERY_SOURCE = {
  name: Name.describe('Display name; only used when the source is created').optional(),
  max_count: Count.describe('Records that are imported in all, at most').optional(),
  max_records: Count.describe('The same as max_count').optional(),
  max_credits: Credits.describe(
    'Credits that its pulls may cost in all; 0 pulls only what is free',
  ).optional(),
  dry_run: DryRun,
  connection_id: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('The connection to use, by its id or name, where there are several')
    .optional(),
  limit: z.int().min(1).describe(`Rows of a preview, ${MAX_PREVIEW} at most`).optional(),
}

const RECURRING = {
  schedule: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('hourly, daily, weekly, or a line of crontab in UTC')
    .optional(),
  stop_at: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 date-time, as 2030-01-31T00:00:00Z' })
    .describe('When it ends')
    .optional(),
  pull_existing: z
    .boolean()
    .describe('Whether records that are there already are imported; default true')
    .optional(),
  import_existing_data: z.boolean().describe('The same as pull_existing').optional(),
}

/** Fields that no definition may have of its own. */
export const COMMON_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys({ ...EVERY_SOURCE, ...RECURRING }),
  'provider',
])

/** A request to preview or create a source, read. */
export type SourceRequest = {
  name: string | null
  /** The source's own fields as they were given, to be stored, and as its pulls get them. */
  given: Record<string, unknown>
  body: Record<string, unknown>
  provider: string | null
  connection: string | null
  maxRecords: number | null
  maxCredits: number | null
  /** Only what it would cost is asked for. */
  isDryRun: boolean
  limit: number
  /** Null for what is imported once, and for what comes by itself. */
  schedule: string | null
  stopAt: Date | null
  pullExisting: boolean
}

/** Everything that a kind of source takes, also for the description of the API. */
export function requestSchema(source: Source): z.ZodObject {
  const providers = source.pulls.map(({ provider }) => provider.id)
  const alias = source.maxCountAlias
  const { stop_at } = RECURRING
  return source.body.extend({
    ...EVERY_SOURCE,
    ...(source.mode === 'once' ? {} : source.receives === null ? RECURRING : { stop_at }),
    ...(providers.length > 1
      ? {
          provider: z
            .enum(providers)
            .describe('Who is asked; the first that is connected when it is left out')
            .optional(),
        }
      : {}),
    ...(alias === null ? {} : { [alias]: Count.describe('The same as max_count').optional() }),
  })
}

/** Reads a body whole: every unknown or malformed field is named in one 400. */
export function readRequest(source: Source, given: unknown): SourceRequest {
  const raw = makeStorable(given, () => undefined)
  const schema = requestSchema(source)
  const parsed = parseInWords(schema, raw)
  const errors: FieldError[] = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) =>
        issue.code === 'unrecognized_keys' && issue.path.length === 0
          ? issue.keys.map((field) => ({ field, message: unknownField(source, schema, field) }))
          : fieldErrors(issue, raw, 'body'),
      )
  const own = Object.keys(source.body.shape)
  if (!parsed.success) throw validationError([...errors, ...crossFaults(source, schema, raw, errors)])
  const common = commonOf(source, parsed.data, errors)
  const body = pick(parsed.data, own)
  errors.push(...source.check(body))
  if (errors.length > 0) throw validationError(errors)
  return { ...common, given: pick(Object(raw), own), body }
}

/** Stands for a field that is given, and wrong: no list and no number that a check would find fault with. */
const GIVEN = [Number.NaN]

/** Finds how the sound fields do not go together where others are wrong (D5). */
function crossFaults(
  source: Source,
  schema: z.ZodObject,
  raw: unknown,
  errors: readonly FieldError[],
): FieldError[] {
  if (!isObject(raw)) return []
  const named = new Set(errors.map(({ field }) => field.split(/[.[]/)[0]))
  const isSound = (name: string) => Object.hasOwn(raw, name) && !named.has(name)
  const sound = schema.partial().safeParse(pick(raw, Object.keys(schema.shape).filter(isSound)))
  if (!sound.success) return []
  const found: FieldError[] = []
  commonOf(source, sound.data, found, Object.hasOwn(raw, 'schedule'))
  const own = Object.keys(source.body.shape)
  const wrong = own.filter((name) => Object.hasOwn(raw, name) && named.has(name))
  found.push(
    ...source.check({ ...pick(sound.data, own), ...Object.fromEntries(wrong.map((name) => [name, GIVEN])) }),
  )
  return found.filter(({ field }) => !named.has(field.split(/[.[]/)[0]))
}

/** Stored fields, read as they were when they were given; the errors say what no longer fits. */
export function readStored(
  source: Source,
  given: unknown,
): { ok: true; body: Record<string, unknown> } | { ok: false; message: string } {
  const parsed = parseInWords(source.body, given)
  if (parsed.success) return { ok: true, body: parsed.data }
  const errors = parsed.error.issues.flatMap((issue) => fieldErrors(issue, given, 'body'))
  return { ok: false, message: errors.map(({ field, message }) => `${field} ${message}`).join('; ') }
}

const Common = z.object({ ...EVERY_SOURCE, ...RECURRING, provider: z.string().optional() })

function commonOf(
  source: Source,
  data: Record<string, unknown>,
  errors: FieldError[],
  hasSchedule = data['schedule'] !== undefined,
): Omit<SourceRequest, 'given' | 'body'> {
  const common = Common.parse(data)
  const recurs = source.mode === 'recurring' || hasSchedule
  if (!recurs) {
    for (const field of ['stop_at', 'pull_existing', 'import_existing_data'] as const) {
      if (common[field] !== undefined)
        errors.push({ field, message: 'is for a source with a schedule; set schedule too' })
    }
  }
  const schedule = recurs && source.receives === null ? (common.schedule ?? 'daily') : null
  if (schedule !== null) errors.push(...checkSchedule(schedule))
  const stopAt = common.stop_at === undefined ? null : new Date(common.stop_at)
  if (stopAt !== null && stopAt.getTime() <= Date.now()) {
    errors.push({ field: 'stop_at', message: 'must be in the future' })
  }
  const counts = [
    'max_count',
    'max_records',
    ...(source.maxCountAlias === null ? [] : [source.maxCountAlias]),
  ]
  return {
    name: common.name ?? null,
    provider: common.provider ?? null,
    connection: common.connection_id ?? null,
    maxRecords: Count.nullable().parse(same(data, counts, errors)),
    maxCredits: common.max_credits ?? null,
    isDryRun: common.dry_run === true,
    limit: Math.min(common.limit ?? MAX_PREVIEW, MAX_PREVIEW),
    schedule,
    stopAt,
    pullExisting: same(data, ['pull_existing', 'import_existing_data'], errors) !== false,
  }
}

/** The one value of a field that has several names. */
function same(data: Record<string, unknown>, names: string[], errors: FieldError[]): unknown {
  const [first, ...others] = names.filter((name) => data[name] !== undefined)
  if (first === undefined) return null
  for (const other of others) {
    if (data[other] !== data[first])
      errors.push({ field: other, message: `is the same as ${first}; give one of them` })
  }
  return data[first]
}

function checkSchedule(schedule: string): FieldError[] {
  if (EVERY.some((word) => word === schedule)) return []
  try {
    readCron(schedule)
    return []
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const [first] = cause.details.errors ?? []
    return [
      {
        field: 'schedule',
        message: `must be hourly, daily, weekly or a line of crontab: ${first?.message ?? ''}`,
      },
    ]
  }
}

function unknownField({ slug, receives }: Source, schema: z.ZodObject, field: string): string {
  if (receives !== null && field === 'schedule')
    return `not accepted: ${slug} has no schedule, since its records are made when visits come; stop_at ends it`
  return `not accepted; ${slug} takes: ${Object.keys(schema.shape).join(', ')}`
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])))
}
