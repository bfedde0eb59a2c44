import { describe, expect, it } from 'vitest'
import { AppError } from '../errors.ts'
import { readCron } from './cron.ts'

describe('the next tick', () => {
  it.each([
    ['*/5 * * * *', 'UTC', '2026-01-01T00:05:00Z', '2026-01-01T00:10:00.000Z'],
    ['*/5 * * * *', 'UTC', '2026-01-01T00:04:59.999Z', '2026-01-01T00:05:00.000Z'],
    ['  0   9 * * MON-FRI ', 'America/New_York', '2026-01-02T15:00:00Z', '2026-01-05T14:00:00.000Z'],
    ['@hourly', 'UTC', '2026-01-01T00:05:00Z', '2026-01-01T01:00:00.000Z'],
    ['@daily', 'Europe/Berlin', '2026-07-01T00:05:00Z', '2026-07-01T22:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z'],
    ['0 12 * * *', 'UTC', '1999-06-01T00:00:00Z', '1999-06-01T12:00:00.000Z'],
  ])('of %s in %s after %s is %s', (line, timezone, after, next) => {
    expect(readCron(line, timezone)(new Date(after))?.toISOString()).toBe(next)
  })

  it('never comes for a date that there is not', () => {
    expect(readCron('0 0 30 2 *')(new Date())).toBeNull()
  })
})

describe('errors say what is wrong, with an example', () => {
  it.each([
    ['61 * * * *', /minute: 61.*"\*\/5 \* \* \* \*"/],
    ['* * * *', /five fields .*minute, hour/],
    ['* * * * * *', /five fields/],
    ['', /five fields/],
    ['every day at nine', /five fields/],
    ['every day at nine sharp', /five fields/],
    ['2030-01-01T00:00:00', /five fields/],
    ['@sometimes', /five fields/],
    ['5/15 * * * *', /\*\/step/],
  ])('%s', (line, message) => {
    expect(errorsOf(line, 'UTC')).toEqual([{ field: 'cron', message: expect.stringMatching(message) }])
  })

  it('of the line and of the time zone at once', () => {
    expect(errorsOf('nonsense', 'Mars/Base')).toEqual([
      { field: 'timezone', message: expect.stringContaining('Europe/Berlin') },
      { field: 'cron', message: expect.any(String) },
    ])
  })
})

function errorsOf(line: string, timezone: string) {
  try {
    readCron(line, timezone)
  } catch (cause) {
    if (cause instanceof AppError) return cause.details.errors
    throw cause
  }
  return null
}
