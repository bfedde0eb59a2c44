import { Cron } from 'croner'
import type { FieldError } from '#contract/errors.ts'
import { reasonOf, validationError } from '../errors.ts'

/** Returns the first time after `after` that a crontab line names, or null if there is none. */
export type NextTick = (after: Date) => Date | null

export const DEFAULT_TIMEZONE = 'UTC'

const EXAMPLES = 'such as "*/5 * * * *", "0 9 * * MON-FRI" or @hourly'
const FIELDS = /^(@[a-z]+|\S+( \S+){4})$/i

/** Reads a crontab line (five fields, or a name such as @daily). Throws a 400 that explains what is wrong. */
export function readCron(line: string, timezone: string = DEFAULT_TIMEZONE): NextTick {
  const errors: FieldError[] = []
  if (!isTimezone(timezone)) {
    const message = `there is no time zone ${timezone}; use an IANA name such as Europe/Berlin or UTC`
    errors.push({ field: 'timezone', message })
  }
  const read = parse(line.trim().replaceAll(/\s+/g, ' '), errors.length === 0 ? timezone : DEFAULT_TIMEZONE)
  if (typeof read === 'string') errors.push({ field: 'cron', message: read })
  if (typeof read === 'string' || errors.length > 0) throw validationError(errors)
  return read
}

function parse(line: string, timezone: string): NextTick | string {
  if (!FIELDS.test(line)) {
    return `must have five fields (minute, hour, day of month, month, day of week), ${EXAMPLES}`
  }
  try {
    const cron = new Cron(line, { mode: '5-part', timezone })
    return (after) => cron.nextRun(after)
  } catch (cause) {
    return `${reasonOf(cause).replace(/^CronPattern: /, '')}; it takes five fields, ${EXAMPLES}`
  }
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
