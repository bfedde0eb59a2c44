const SYNTAX =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d{1,9})?))?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))?)?$/

/**
 * Reads an ISO 8601 date or date-time as milliseconds since 1970, or returns null. A date means its midnight. A date or
 * time without an offset is read in UTC: the machine's own time zone has no effect.
 */
export function parseInstant(text: string): number | null {
  const match = SYNTAX.exec(text)
  if (!match) return null
  const [
    ,
    day = '',
    hours = '0',
    minutes = '0',
    seconds = '0',
    sign,
    offsetHours = '0',
    offsetMinutes = '0',
  ] = match
  const midnight = new Date(`${day}T00:00:00Z`)
  // February 30 rolls over into March instead of failing.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  const offset = (sign === '-' ? -1 : 1) * (Number(offsetHours) * 60 + Number(offsetMinutes))
  const time = Number(hours) * 60 + Number(minutes) - offset
  return midnight.getTime() + time * 60_000 + Number(seconds) * 1000
}
