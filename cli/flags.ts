import type { Command } from 'commander'
import { z } from 'zod'
import { Email } from '#contract/members.ts'
import { validationError } from '#server/lib/errors.ts'
import { parseInWords } from '#server/lib/field-errors.ts'
import { isUuid } from '#server/lib/ids.ts'

/** Reads flags and arguments of the command line by `schema`. Reports all invalid ones at once. */
export function readFlags<Flags>(command: Command, schema: z.ZodType<Flags>): Flags {
  const given: Record<string, unknown> = { ...command.opts() }
  for (const [i, argument] of command.registeredArguments.entries()) {
    given[argument.name()] = command.args[i]
  }
  const parsed = parseInWords(schema, given)
  if (parsed.success) return parsed.data
  throw validationError(
    parsed.error.issues.map(({ path, message }) => ({ field: flagName(String(path[0])), message })),
  )
}

/** Returns the name of a flag as it is typed: commander stores `admin-email` as `adminEmail`. */
function flagName(stored: string): string {
  return stored.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

export function examples(...lines: string[]): string {
  return ['', `Example${lines.length > 1 ? 's' : ''}:`, ...lines.map((line) => `  $ ${line}`)].join('\n')
}

export const Org = z
  .string()
  .toLowerCase()
  .refine(isUuid, 'must be a UUID, as `loam org list` shows it')
  .exactOptional()

/** The address of an existing member: it is looked up, its form is not checked. */
export const KnownEmail = z.string().trim().toLowerCase().min(1, 'must not be empty')

/**
 * The address of a new member. Addresses on this machine, such as admin@localhost, are allowed for trials.
 */
export const NewEmail = z
  .string()
  .trim()
  .toLowerCase()
  .refine(
    (text) => /^[^\s@]+@localhost$/.test(text) || Email.safeParse(text).success,
    'must be an email address',
  )

/** Below this limit, thousandths are exact in a JSON number. */
export const MAX_MILLIS = 10 ** 15

/**
 * An amount of credits in whole thousandths, parsed digit by digit: 0.1 + 0.2 must not become
 * 0.30000000000000004.
 */
export const Amount = z
  .string()
  .regex(/^\d+(\.\d{1,3})?$/, 'must be a number of credits with at most 3 decimals, such as 500 or 0.125')
  .transform((text) => {
    const [whole = '', decimals = ''] = text.split('.')
    return Number(whole + decimals.padEnd(3, '0'))
  })
  .refine((millis) => millis <= MAX_MILLIS, `must be at most ${MAX_MILLIS / 1000}`)

/** A credit limit, or null for the text `none`. */
export const CapAmount = z.union([z.literal('none').transform(() => null), Amount], {
  error: 'must be none or a number of credits with at most 3 decimals, such as 500 or 0.125',
})

export const KeyId = z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam key list` shows it')

/** A list separated by commas. Empty items are refused: an empty list must not mean "no limit". */
export const List = z.string().transform((text, context) => {
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) context.addIssue('must be a list such as a,b without empty items')
  return [...new Set(items)]
})

export const UuidList = List.refine((ids) => ids.every(isUuid), 'must be a list of UUIDs')

export const PerMinute = z
  .string()
  .regex(/^\d+$/, 'must be a whole number')
  .transform(Number)
  .refine((n) => n >= 1 && n <= 2_147_483_647, 'must be between 1 and 2147483647')

export const DateTime = z.iso
  .datetime({
    offset: true,
    error: 'must be an ISO 8601 date-time with its zone, such as 2030-01-31T12:00:00Z',
  })
  .transform((text) => new Date(text))

const LONGEST_MS = 365 * 86_400_000

export const Duration = z.string().transform((text, context) => {
  const ms = parseDuration(text)
  if (ms !== undefined && ms <= LONGEST_MS) return ms
  context.addIssue('must be a duration such as 30s, 10m, 24h or 7d, at most 365d')
  return z.NEVER
})

/** The number of entries of a list. */
export const Limit = (fallback: number, most: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= 1 && n <= most, `must be between 1 and ${most}`)
    .default(fallback)

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds of `30s`, `10m`, `24h`, `7d` or `0`, or undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (/^0[smhd]?$/.test(text)) return 0
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs
}
