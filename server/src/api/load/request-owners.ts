import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { clientAddress } from '../http/client-address.ts'
import { type Carrying, credentialOf } from '../http/credentials.ts'
import { isInternal } from '../http/sessions.ts'

const MAX_KNOWN = 10_000

export type RequestOwner = {
  /** Of the key or session that the request carries, if it looks like one. */
  hash: Buffer | null
  address: string
  /** The organisation when its key was admitted before, else the address: made-up keys are all of one owner. */
  owner: string
}

type Seen = {
  authorization: string
  forwarded: string | string[] | undefined
  hash: Buffer | null
  address: string
}
type Asking = Carrying & { raw: IncomingMessage }

/** Whose requests are, as far as it can be told without the database: who waits for whom follows from it, and no right. */
export function createRequestOwners(trusted: TrustedProxies) {
  const orgs = new LRUCache<string, string>({ max: MAX_KNOWN })
  const seen = new WeakMap<Socket, Seen>()

  /** Whoever asks again by a connection sends the same key: what follows from it is found out once. */
  function look(request: Asking): Omit<RequestOwner, 'owner'> {
    const { authorization, 'x-forwarded-for': forwarded } = request.headers
    // A session is carried otherwise.
    if (authorization === undefined || isInternal(request)) return lookAnew(request)
    const { socket } = request.raw
    const known = seen.get(socket)
    if (known !== undefined && known.authorization === authorization && known.forwarded === forwarded)
      return known
    const found = { authorization, forwarded, ...lookAnew(request) }
    seen.set(socket, found)
    return found
  }

  function lookAnew(request: Asking): Omit<RequestOwner, 'owner'> {
    const token = credentialOf(request)
    return {
      hash: token === undefined ? null : hashToken(token),
      address: clientAddress(request, trusted),
    }
  }

  function ownerOf(request: Asking): RequestOwner {
    const { hash, address } = look(request)
    return { hash, address, owner: (hash && orgs.get(nameOf(hash))) ?? address }
  }

  return {
    ownerOf,
    /** Of a request that nothing was done for yet. */
    ownerOfRaw: (raw: IncomingMessage): string =>
      ownerOf({ raw, headers: raw.headers, originalUrl: raw.url ?? '/' }).owner,
    remember: (hash: Buffer, orgId: string): void => void orgs.set(nameOf(hash), orgId),
  }
}

const nameOf = (hash: Buffer): string => hash.toString('base64')
