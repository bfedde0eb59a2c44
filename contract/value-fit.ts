import { parseDecimal } from './decimal.ts'
import type { InputType } from './inputs.ts'
import { parseInstant } from './instant.ts'

/** The type of an input, with its choices if it is a `select`. */
export type TypedInput = { type: InputType; choices?: readonly string[] | undefined }

/** The longest texts that are checked. A longer text is no number, address, link, date or choice. */
const MAX_LENGTH = { number: 1000, email: 320, url: 8192, date: 100, boolean: 100, select: 1000 }

/**
 * Returns true if a value fits its input. A missing or blank value fits every type, and blanks around a value are
 * allowed. A value that is far too long is not checked.
 */
export function fitsInput(value: unknown, { type, choices = [] }: TypedInput): boolean {
  if (value === null || value === undefined || type === 'string') return true
  if (typeof value === 'boolean') return type === 'boolean' || choices.includes(String(value))
  if (typeof value === 'number') return type === 'number' || choices.includes(String(value))
  if (typeof value !== 'string') return false
  if (value.length > MAX_LENGTH[type] * 2) return value.trim() === ''
  const text = value.trim()
  return text === '' || (text.length <= MAX_LENGTH[type] && CHECKS[type](text, choices))
}

const CHECKS: Record<Exclude<InputType, 'string'>, (text: string, choices: readonly string[]) => boolean> = {
  number: (text) => parseDecimal(text) !== null,
  email: isEmail,
  url: isUrl,
  date: (text) => parseInstant(text) !== null,
  boolean: (text) => readBoolean(text) !== null,
  select: (text, choices) => choices.includes(text),
}

/** Reads `true` or `false`, in any case. Returns null for any other value. */
export function readBoolean(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  const text = typeof value === 'string' && value.length <= 100 ? value.trim().toLowerCase() : ''
  return text === 'true' ? true : text === 'false' ? false : null
}

/** Returns true for one part before the at sign and a host after it. It does not check whether the address can be reached. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  return at > 0 && !/[\s<>,;]/.test(text) && isHost(text.slice(at + 1))
}

/** Returns true for a link with its scheme, or without it as people write it: acme.com/about. */
function isUrl(text: string): boolean {
  if (/\s/.test(text)) return false
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  return (
    url !== null && (isHost(url.hostname) || url.hostname === 'localhost' || url.hostname.startsWith('['))
  )
}

/** Returns true for labels with a dot between them. */
function isHost(host: string): boolean {
  const labels = host.split('.')
  return labels.length > 1 && labels.every((label) => label !== '' && !/[\s@/:]/.test(label))
}
