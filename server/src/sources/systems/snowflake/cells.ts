import { NumberText, parseExact } from '../../../lib/json/lossless-json.ts'

export type ColumnType = { name: string; type: string }

const DAY_MS = 24 * 60 * 60_000

/**
 * Converts a cell to its JSON value. All cells arrive as texts:
 * https://docs.snowflake.com/en/developer-guide/sql-api/handling-responses
 */
export function readCell(text: string | null, type: string): unknown {
  if (text === null) return null
  switch (type.toLowerCase()) {
    case 'fixed':
    case 'number':
    case 'real':
    case 'float':
    case 'decfloat':
      return readNumber(text)
    case 'boolean':
      return text === 'true' || text === '1'
    case 'date':
      return new Date(Number(text) * DAY_MS).toISOString().slice(0, 10)
    case 'time':
      return readMoment(text).slice(11, -1)
    case 'timestamp_ntz':
      return readMoment(text).slice(0, -1)
    case 'timestamp_ltz':
      return readMoment(text)
    case 'timestamp_tz':
      // The offset (minutes after the seconds) only says how the time was written.
      return readMoment(text.split(' ')[0] ?? '')
    case 'variant':
    case 'object':
    case 'array':
      return readJson(text)
    default:
      return text
  }
}

/** Converts seconds with nine decimals. All digits are kept, because positions in a table depend on them. */
function readMoment(text: string): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const nanos = Number(fraction.padEnd(9, '0').slice(0, 9))
  const isBefore = sign === '-' && nanos > 0
  const seconds = Number(`${sign}${whole}`) - (isBefore ? 1 : 0)
  const digits = String(isBefore ? 1_000_000_000 - nanos : nanos).padStart(9, '0')
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${digits.replace(/0{1,6}$/, '')}Z`
}

/** Converts a number. Digits beyond the precision of doubles are kept. */
function readNumber(text: string): unknown {
  const number = Number(text)
  if (!Number.isFinite(number)) return text
  return String(number) === text ? number : /^-?\d+(\.\d+)?$/.test(text) ? new NumberText(text) : number
}

function readJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // A variant may contain `undefined`, which is not JSON.
    return text
  }
}
