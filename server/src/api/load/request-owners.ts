import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { clientAddress } from '../http/client-address.ts'
import { type Carrying, readCredential } from '../http/sessions.ts'

const MAX_KNOWN = 10_000

export type RequestOwner = {
  /** The hash of the key or session of the request, if it is well-formed. */
  hash: Buffer | null
  address: string
  /** The organisation if the key was admitted before, else the address: all made-up keys have one owner. */
  owner: string
}

type Asking = Carrying & { raw: IncomingMessage }

/**
 * Finds the owners of requests without the database. The owner decides who waits for whom; it gives no
 * permission.
 */
export function createRequestOwners(trusted: TrustedProxies) {
  const orgs = new LRUCache<string, string>({ max: MAX_KNOWN })

  function findOwner(request: Asking): RequestOwner {
    const token = readCredential(request)
    const hash = token === undefined ? null : hashToken(token)
    const address = clientAddress(request, trusted)
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
