/** The way to read a number: as itself, padded with zeros, or as the serial number of a day or time. */
export type NumberKind = {
  kind: 'number' | 'date' | 'time' | 'datetime' | 'elapsed'
  zeros: number
  fraction: boolean
}

const PLAIN: NumberKind = { kind: 'number', zeros: 0, fraction: false }
const DATE: NumberKind = { kind: 'date', zeros: 0, fraction: false }
const TIME: NumberKind = { kind: 'time', zeros: 0, fraction: false }

/** Returns the kind of a built-in format. Those of East Asian editions are also dates. */
export function kindOfBuiltIn(id: number): NumberKind {
  if (id === 22) return { ...DATE, kind: 'datetime' }
  if (id >= 18 && id <= 21) return TIME
  if (id === 45) return TIME
  if (id === 46) return { ...DATE, kind: 'elapsed' }
  if (id === 47) return { ...TIME, fraction: true }
  const isDate = (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)
  return isDate ? DATE : PLAIN
}

/** The maximum length of a format code, as in Excel. */
const LONGEST_FORMAT = 255

/**
 * Returns the kind of a format code, from its first section. Quoted texts, escaped characters, colours and conditions
 * are ignored.
 */
export function kindOfFormat(code: string): NumberKind {
  const bare = code
    .slice(0, LONGEST_FORMAT)
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!(h+|m+|s+)\])[^\]]*\]/gi, '')
    .split(';', 1)[0]
    ?.toLowerCase()
  if (bare === undefined || bare.includes('general')) return PLAIN
  const fraction = /s\.0/.test(bare)
  if (/\[(h+|m+|s+)\]/.test(bare)) return { kind: 'elapsed', zeros: 0, fraction }
  const hasTime = /[hs]|am\/pm|a\/p/.test(bare)
  // An m next to hours or seconds means minutes.
  const hasDate = /[yd]/.test(bare) || (!hasTime && bare.includes('m'))
  if (hasDate) return { kind: hasTime ? 'datetime' : 'date', zeros: 0, fraction }
  if (hasTime) return { kind: 'time', zeros: 0, fraction }
  return /^0{2,}$/.test(bare) ? { ...PLAIN, zeros: bare.length } : PLAIN
}

/**
 * Returns the text that a person reads for a stored number. Percent, currency and thousands formats show the plain
 * number.
 */
export function formatNumber(stored: string, { kind, zeros, fraction }: NumberKind, is1904: boolean): string {
  const value = Number(stored)
  if (!Number.isFinite(value) || stored === '') return stored
  if (kind === 'number') return printNumber(value).padStart(zeros, '0')
  if (kind === 'elapsed') return printElapsed(value, fraction)
  return printInstant(value, kind, fraction, is1904) ?? printNumber(value)
}

/** Prints a number. Spreadsheets compute with 15 digits; further digits are noise of binary fractions. */
function printNumber(value: number): string {
  const rounded = Number(value.toPrecision(15))
  const text = String(rounded)
  return /e-/.test(text) && Math.abs(rounded) > 1e-20 ? rounded.toFixed(20).replace(/0+$/, '') : text
}

const DAY_MS = 86_400_000
/** The day before the first, because serial numbers start at 1 and treat 1900 as a leap year. */
const START_1900 = Date.UTC(1899, 11, 30)
const START_1904 = Date.UTC(1904, 0, 1)
const LAST_DAY = 2_958_466

function printInstant(
  serial: number,
  kind: 'date' | 'time' | 'datetime',
  fraction: boolean,
  is1904: boolean,
): string | undefined {
  if (serial < 0 || serial >= LAST_DAY) return undefined
  // Serial numbers before 29 February 1900, a day that never existed, start one day later.
  const shift = !is1904 && serial < 60 ? 1 : 0
  const step = fraction ? 1 : 1000
  const days = (kind === 'date' ? Math.floor(serial) : serial) + shift
  const ms = Math.round((days * DAY_MS) / step) * step
  const [date = '', time = ''] = new Date((is1904 ? START_1904 : START_1900) + ms)
    .toISOString()
    .slice(0, -1)
    .split('T')
  if (kind === 'date') return date
  const clock = fraction ? time.replace(/\.000$/, '') : time.slice(0, 8)
  return kind === 'time' ? clock : `${date}T${clock}`
}

function printElapsed(days: number, fraction: boolean): string {
  const step = fraction ? 1 : 1000
  const ms = Math.round((Math.abs(days) * DAY_MS) / step) * step
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  const rest = ms % 1000 === 0 ? '' : `.${String(ms % 1000).padStart(3, '0')}`
  return `${days < 0 ? '-' : ''}${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${rest}`
}

/** Replaces codes such as _x000D_, which stand for characters that XML cannot contain. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
