import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { RawBuilder } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Store } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { type Admission, admitAndRead, type Visitor } from '../../organisation/store/admission.ts'
import { hasNoBody } from '../http/json-body.ts'

/** What a route will read first, by a name that tells one such read from others. */
export type ForeseenRead = { name: string; statement: RawBuilder<object> }

declare module 'fastify' {
  interface FastifyRequest {
    /** Read while the caller was admitted: good for a route that reads just this. */
    foreseen: { name: string; rows: Promise<object[]> } | null
  }
  interface FastifyContextConfig {
    /**
     * What is read for a request with this body, if that can be told from it alone. It is read while the caller is admitted, of the
     * organisation that had this key the last time, and nobody sees it unless the caller is admitted to just that.
     */
    foresee?: (sheet: SheetKey, bodyText: string) => ForeseenRead | undefined
  }
}

const MAX_BODY_BYTES = 1024
const MAX_KNOWN = 10_000
/** Requests that come by the dozen are admitted by the dozen, which costs less, and then take turns. */
const MAX_AT_ONCE = 2

/**
 * A request that reads waits for the database twice: to be admitted, and for what it reads. Where a caller asks again for what they
 * were admitted to the last time, both are sent at once. Whoever is refused, for whatever reason, has nothing read the next time.
 */
export function createForesight(store: Store, limits: { perMinute: number; perDay: number }) {
  const admitted = new LRUCache<string, string>({ max: MAX_KNOWN })
  let underWay = 0

  function foresee(request: FastifyRequest, visitor: Visitor): (ForeseenRead & SheetKey) | undefined {
    const { foresee: readOf } = request.routeOptions.config
    if (readOf === undefined || underWay >= MAX_AT_ONCE) return undefined
    if (request.headers['idempotency-key'] !== undefined) return undefined
    const org_id = admitted.get(nameOf(visitor))
    const bodyText = org_id === undefined ? undefined : peekBody(request)
    if (org_id === undefined || bodyText === undefined) return undefined
    const sheet = { org_id, sheet_id: visitor.sheet?.sheetId ?? '' }
    const read = readOf(sheet, bodyText)
    return read && { ...read, ...sheet }
  }

  /** Whoever uses what was read hears of a failure. */
  async function countUntilRead(rows: Promise<unknown>): Promise<void> {
    underWay += 1
    await rows.catch(() => undefined)
    underWay -= 1
  }

  return {
    /** Undefined where the request is to be admitted as any other. */
    admit(request: FastifyRequest, visitor: Visitor): Promise<Admission> | undefined {
      const read = foresee(request, visitor)
      if (read === undefined) return undefined
      const { sql: text, parameters } = read.statement.compile(store.system)
      const statement = { text, values: [...parameters] }
      const { admission, rows } = admitAndRead<object>(store, read.org_id, visitor, limits, statement)
      request.foreseen = { name: read.name, rows }
      void countUntilRead(rows)
      return admission
    },
    welcome(request: FastifyRequest, visitor: Visitor): void {
      const isForeseeable = request.routeOptions.config.foresee !== undefined
      if (isForeseeable) admitted.set(nameOf(visitor), request.caller.orgId)
    },
    refuse: (visitor: Visitor): void => void admitted.delete(nameOf(visitor)),
  }
}

const nameOf = ({ hash, sheet }: Visitor): string => `${hash?.toString('base64')} ${sheet?.sheetId}`

/** A short body that arrived with its headers. It stays there for whoever reads it. */
function peekBody(request: FastifyRequest): string | undefined {
  if (hasNoBody(request)) return ''
  const raw: IncomingMessage = request.raw
  const length = Number(request.headers['content-length'])
  if (!(length <= MAX_BODY_BYTES) || raw.readableLength !== length) return undefined
  const bytes: unknown = raw.read()
  if (!Buffer.isBuffer(bytes)) return undefined
  raw.unshift(bytes)
  return bytes.toString()
}
