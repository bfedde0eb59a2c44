import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomText } from './keys.ts'

/** 256 bits and a little. Of another shape than an API key, so that neither is ever looked up as the other. */
const TOKEN_LENGTH = 44
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

/** The token of a session or of a link to sign in. */
export const newSessionToken = (): string => randomText(TOKEN_LENGTH)

export const isSessionToken = (text: string): boolean => TOKEN.test(text)

/** Follows from the token, which no script can read: whoever knows it was told by us, in an answer of our own origin. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url')
}

export function isCsrfTokenOf(sessionToken: string, given: string): boolean {
  const wanted = Buffer.from(csrfTokenOf(sessionToken))
  const offered = Buffer.from(given)
  return wanted.length === offered.length && timingSafeEqual(wanted, offered)
}
