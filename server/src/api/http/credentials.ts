import type { FastifyRequest } from 'fastify'
import { isWellFormedKey } from '../../lib/security/keys.ts'
import { type Addressed, isInternal, readSessionToken } from './sessions.ts'

export type Carrying = Addressed & Pick<FastifyRequest, 'headers'>

/** Returns the key, or on an internal path the session token, if it is well-formed. */
export function readCredential(request: Carrying): string | undefined {
  if (isInternal(request)) return readSessionToken(request)
  const key = bearerKey(request)
  return key !== undefined && isWellFormedKey(key) ? key : undefined
}

export function bearerKey({ headers }: Pick<Carrying, 'headers'>): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}
