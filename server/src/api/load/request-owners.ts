import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { clientAddress } from '../http/client-address.ts'
import { type Carrying, readCredential, isInternal } from '../http/sessions.ts'

const MAX_KNOWN = 10_000

export type RequestOwner = {
  /** The hash of the key or session of the request, if it is well-formed. */
  hash: Buffer | null
  address: string
  /** The organisation if the key was admitted before, else the address: all made-up keys have one owner. */
  owner: string
}

type Seen = {
  authorization: string
  forwarded: string | string[] | undefined
  hash: Buffer | null
  address: string
}
type Asking = Carrying & { raw: IncomingMessage }

/**
 * Finds the owners of requests without the database. The owner decides who waits for whom; it gives no
 * permission.
 */
export function createRequestOwners(trusted: TrustedProxies) {
  const orgs = new LRUCache<string, string>({ max: MAX_KNOWN })
  const seen = new WeakMap<Socket, Seen>()

  /**
   * Returns the hash and the address of a request. The result is cached by connection, because a client
   * usually sends the same key again.
   */
  function look(request: Asking): Omit<RequestOwner, 'owner'> {
    const { authorization, 'x-forwarded-for': forwarded } = request.headers
    // A session is not in the authorization header, so it is not cached.
    if (authorization === undefined || isInternal(request) || !isOn('request-owners'))
      return lookAnew(request)
    const { socket } = request.raw
    const known = seen.get(socket)
    if (known !== undefined && known.authorization === authorization && known.forwarded === forwarded)
      return known
    const found = { authorization, forwarded, ...lookAnew(request) }
    seen.set(socket, found)
    return found
  }

  function lookAnew(request: Asking): Omit<RequestOwner, 'owner'> {
    const token = readCredential(request)
    return {
      hash: token === undefined ? null : hashToken(token),
      address: clientAddress(request, trusted),
    }
  }

  function findOwner(request: Asking): RequestOwner {
    const { hash, address } = look(request)
    return { hash, address, owner: (hash && orgs.get(toCacheKey(hash))) ?? address }
  }

  return {
    findOwner,
    /** Returns the owner of a request that Fastify has not parsed yet. */
    findOwnerOfRaw: (raw: IncomingMessage): string =>
      findOwner({ raw, headers: raw.headers, originalUrl: raw.url ?? '/' }).owner,
    remember: (hash: Buffer, orgId: string): void => void orgs.set(toCacheKey(hash), orgId),
  }
}

const toCacheKey = (hash: Buffer): string => hash.toString('base64')
