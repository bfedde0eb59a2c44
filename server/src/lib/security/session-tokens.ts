import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomText } from './keys.ts'

/**
 * The length of a token: slightly more than 256 bits. It differs from an API key in its form, so that neither
 * is ever looked up as the other.
 */
const TOKEN_LENGTH = 44
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

/** Returns a new token for a session or a sign-in link. */
export const newSessionToken = (): string => randomText(TOKEN_LENGTH)

export const isSessionToken = (text: string): boolean => TOKEN.test(text)

/**
 * Derives the CSRF token from the session token, which no script can read. So a caller that knows the CSRF
 * token got it from a response of this server to its own origin.
 */
export function deriveCsrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

export function isCsrfTokenOf(sessionToken: string, given: string): boolean {
  const wanted = Buffer.from(deriveCsrfToken(sessionToken))
  const offered = Buffer.from(given)
  return wanted.length === offered.length && timingSafeEqual(wanted, offered)
}
