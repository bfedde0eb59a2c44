import { parseTemplate } from '../chain/references.ts'
import type { Inspection } from './field.ts'

/**
 * Replaces each token by a literal that is valid as a host, a port, a path and a parameter. Returns null if a token
 * comes first.
 */
function withoutTokens(text: string): string | null {
  const parts = parseTemplate(text.trim())
  if (parts[0]?.kind !== 'text') return null
  return parts.map((part) => (part.kind === 'token' ? '1' : part.text)).join('')
}

/** Returns what is wrong with an address before a row is known, or null. Set `absolute` if no scheme is added later. */
export function inspectUrl(text: string, absolute: boolean): Inspection | null {
  const literal = withoutTokens(text)
  if (literal === null || literal === '') return null
  const url = URL.parse(literal) ?? (absolute ? null : URL.parse(`https://${literal}`))
  const isHttp = url !== null && (url.protocol === 'http:' || url.protocol === 'https:')
  const fits = absolute ? isHttp : url !== null && !/\s/.test(literal)
  if (fits) return null
  const wanted = absolute ? 'must start with http:// or https:// and name a host' : 'must be an address'
  return { code: 'invalid_url', message: `"${text.slice(0, 100)}" cannot be an address: it ${wanted}` }
}

/** Returns what is wrong with an email address, or with several separated by commas, or null. */
export function inspectEmail(text: string): Inspection | null {
  const literal = withoutTokens(text)
  if (literal === null || text.includes('{{') || literal === '') return null
  const wrong = literal.split(/[,;]/).find((part) => !/^[^\s@]+@[^\s@]+$/.test(part.trim()))
  if (wrong === undefined) return null
  return { code: 'invalid_email', message: `"${wrong.trim().slice(0, 100)}" cannot be an email address` }
}
