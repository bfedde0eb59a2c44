import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { DryRun, MaxCredits } from '#contract/spending.ts'
import { Name } from '#contract/text.ts'
import { AppError, validationError } from '../lib/errors.ts'
import { fieldErrors, parseInWords } from '../lib/field-errors.ts'
import { isObject } from '../lib/json/object.ts'
import { makeStorable } from '../lib/json/storable.ts'
import { readCron } from '../lib/timing/cron.ts'
import type { Source } from './define.ts'

export const MAX_PREVIEW = 100
/** The maximum number of preview rows if the installation pays a provider or a model for them. */
export const MAX_PAID_PREVIEW = 5
export const SCHEDULE_WORDS = ['hourly', 'daily', 'weekly'] as const

const Count = z.int().min(1).max(10_000_000)

const EVERY_SOURCE = {
  name: Name.describe('Display name; only used when the source is created').optional(),
  max_count: Count.describe('Maximum number of records to import in all').optional(),
  max_records: Count.describe('Same as max_count').optional(),
  max_credits: MaxCredits.describe(
    'Maximum credits for all pulls together; 0 pulls only what is free',
  ).optional(),
  dry_run: DryRun,
  connection_id: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('The connection to use, by id or name, if there are several')
    .optional(),
  limit: z.int().min(1).describe(`Number of preview rows, at most ${MAX_PREVIEW}`).optional(),
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
    .datetime({ offset: true, error: 'must be an ISO 8601 date-time, such as 2030-01-31T00:00:00Z' })
    .describe('When the source ends')
    .optional(),
  pull_existing: z.boolean().describe('Whether existing records are imported; default true').optional(),
  import_existing_data: z.boolean().describe('Same as pull_existing').optional(),
}

/** The field names that no definition may use for its own fields. */
export const COMMON_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys({ ...EVERY_SOURCE, ...RECURRING }),
  'provider',
])

/** A parsed request to preview or create a source. */
export type SourceRequest = {
  name: string | null
  /** The source's own fields: `given` as the caller sent them, to be stored, and `body` as the pulls get them. */
  given: Record<string, unknown>
  body: Record<string, unknown>
  provider: string | null
  connection: string | null
  maxRecords: number | null
  maxCredits: number | null
  /** Set for a request that only asks for the cost. */
  isDryRun: boolean
  limit: number
  /** The schedule, or null for a source that is imported once or receives. */
  schedule: string | null
  stopAt: Date | null
  pullExisting: boolean
}

/** Returns the schema of all fields that a type of source takes, also for the API description. */
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
            .describe('The provider to use; default: the first connected one')
            .optional(),
        }
      : {}),
    ...(alias === null ? {} : { [alias]: Count.describe('Same as max_count').optional() }),
  })
}

/** Parses a body. One 400 names every unknown or malformed field. */
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
  if (!parsed.success) throw validationError([...errors, ...findConflicts(source, schema, raw, errors)])
  const common = readCommon(source, parsed.data, errors)
  const body = pick(parsed.data, own)
  errors.push(...source.check(body))
  if (errors.length > 0) throw validationError(errors)
  return { ...common, given: pick(Object(raw), own), body }
}

/**
 * Stands for a field that is present but invalid. It is neither a list nor a number that a check would find fault with.
 */
const INVALID_VALUE = [Number.NaN]

/** Finds conflicts between the valid fields when others are invalid (D5). */
function findConflicts(
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
  readCommon(source, sound.data, found, Object.hasOwn(raw, 'schedule'))
  const own = Object.keys(source.body.shape)
  const wrong = own.filter((name) => Object.hasOwn(raw, name) && named.has(name))
  found.push(
    ...source.check({
      ...pick(sound.data, own),
      ...Object.fromEntries(wrong.map((name) => [name, INVALID_VALUE])),
    }),
  )
  return found.filter(({ field }) => !named.has(field.split(/[.[]/)[0]))
}

/** Parses stored fields again, as when they were given. The message names the fields that no longer fit. */
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

function readCommon(
  source: Source,
  data: Record<string, unknown>,
  errors: FieldError[],
  hasSchedule = data['schedule'] !== undefined,
): Omit<SourceRequest, 'given' | 'body'> {
  const common = Common.parse(data)
  const recurs = source.mode === 'recurring' || hasSchedule
  if (!recurs) {
    for (const field of ['stop_at', 'pull_existing', 'import_existing_data'] as const) {
      if (common[field] !== undefined) errors.push({ field, message: 'needs a schedule; set schedule too' })
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
    maxRecords: Count.nullable().parse(readSynonyms(data, counts, errors)),
    maxCredits: common.max_credits ?? null,
    isDryRun: common.dry_run === true,
    limit: Math.min(common.limit ?? MAX_PREVIEW, MAX_PREVIEW),
    schedule,
    stopAt,
    pullExisting: readSynonyms(data, ['pull_existing', 'import_existing_data'], errors) !== false,
  }
}

/** Returns the value of a field that has several names. Adds an error if two names have different values. */
function readSynonyms(data: Record<string, unknown>, names: string[], errors: FieldError[]): unknown {
  const [first, ...others] = names.filter((name) => data[name] !== undefined)
  if (first === undefined) return null
  for (const other of others) {
    if (data[other] !== data[first])
      errors.push({ field: other, message: `is the same as ${first}; give one of them` })
  }
  return data[first]
}

function checkSchedule(schedule: string): FieldError[] {
  if (SCHEDULE_WORDS.some((word) => word === schedule)) return []
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
    return `not accepted: ${slug} has no schedule, because its records are made when visits arrive; use stop_at to end it`
  return `not accepted; ${slug} takes: ${Object.keys(schema.shape).join(', ')}`
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(from, name) ? [[name, from[name]]] : [])))
}
