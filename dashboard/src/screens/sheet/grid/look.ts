const LINK = /^https?:\/\/[^\s/$.?#][^\s]*$/i
const MAIL = /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>"]+$/
/** The length beyond which a text is no address. */
const MAX_ADDRESS = 2000

/** Returns the address that a text names, with a scheme that is safe to open (`http`, `https`, `mailto`), or null. */
export function addressOf(text: string): string | null {
  const address = text.trim()
  if (address.length > MAX_ADDRESS) return null
  if (LINK.test(address)) return URL.canParse(address) ? address : null
  return MAIL.test(address) ? `mailto:${address}` : null
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/

/** Returns a date and time in the zone of the reader and in UTC, or null for any other text. A date alone has no zone. */
export function localTime(text: string): { local: string; utc: string } | null {
  if (!DATE_TIME.test(text)) return null
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) return null
  return { local: printTime(date), utc: `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC` }
}

const pad = (part: number) => String(part).padStart(2, '0')

function printTime(date: Date): string {
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/** The way in which a value is drawn: as a link, a mark or a local time. A value that is none of them is drawn as its text. */
export type Look = { href: string } | { mark: boolean } | { local: string; utc: string } | null

/** Returns the look of a text of the grid. The first letter decides for nearly all texts, because every cell in view is asked. */
export function lookOf(text: string, type: string): Look {
  if (text === '') return null
  if (type === 'boolean') return MARKS.has(text) ? { mark: text === 'true' } : null
  const code = text.charCodeAt(0)
  if (type === 'email' || type === 'url' || (code | 32) === LETTER_H) {
    const href = addressOf(text)
    if (href !== null) return { href }
  }
  if (code < DIGIT_0 || code > DIGIT_9 || text.charCodeAt(10) !== LETTER_T) return null
  return localTime(text)
}

const MARKS = new Set(['true', 'false'])
const [DIGIT_0, DIGIT_9, LETTER_T, LETTER_H] = [48, 57, 84, 104]
