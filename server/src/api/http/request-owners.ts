import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { TrustedProxies } from '../../lib/config/trusted-proxies.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { clientAddress } from './client-address.ts'
import { type Carrying, credentialOf } from './credentials.ts'

const MAX_KNOWN = 10_000

export type RequestOwner = {
  /** Of the key or session that the request carries, if it looks like one. */
  hash: Buffer | null
  address: string
  /** The organisation when its key was admitted before, else the address: made-up keys are all of one owner. */
  owner: string
}

type Seen = {
  authorization: string | undefined
  forwarded: string | string[] | undefined
  hash: string | null
  address: string
}

/** Whose requests are, as far as it can be told without the database: who waits for whom follows from it, and no right. */
export function createRequestOwners(trusted: TrustedProxies) {
  const orgs = new LRUCache<string, string>({ max: MAX_KNOWN })
  const seen = new WeakMap<Socket, Seen>()

  /** Who floods the server sends the same key again and again: what follows from it is found out once a connection. */
  function look(raw: IncomingMessage): Seen {
    const { authorization, 'x-forwarded-for': forwarded } = raw.headers
    const known = seen.get(raw.socket)
    if (known !== undefined && known.authorization === authorization && known.forwarded === forwarded)
      return known
    const { hash, address } = ownerOf({ raw, headers: raw.headers, originalUrl: raw.url ?? '/' })
    const found = { authorization, forwarded, hash: hash?.toString('base64') ?? null, address }
    // A session is carried otherwise.
    if (authorization !== undefined) seen.set(raw.socket, found)
    return found
  }

  function ownerOf(request: Carrying & { raw: IncomingMessage }): RequestOwner {
    const token = credentialOf(request)
    const hash = token === undefined ? null : hashToken(token)
    const address = clientAddress(request, trusted)
    return { hash, address, owner: (hash && orgs.get(hash.toString('base64'))) ?? address }
  }

  return {
    ownerOf,
    /** Of a request that nothing was done for yet. */
    ownerOfRaw(raw: IncomingMessage): string {
      const { hash, address } = look(raw)
      return (hash === null ? undefined : orgs.get(hash)) ?? address
    },
    remember: (hash: Buffer, orgId: string): void => void orgs.set(hash.toString('base64'), orgId),
  }
}
