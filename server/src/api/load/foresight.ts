import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { RawBuilder } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Store } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { type Admission, admitAndRead, type Visitor } from '../../organisation/store/admission.ts'
import { hasNoBody } from '../http/json-body.ts'

/** The first read of a route, with a name that distinguishes it from other reads. */
export type ForeseenRead = { name: string; statement: RawBuilder<object> }

declare module 'fastify' {
  interface FastifyRequest {
    /** The rows read during admission, for a route whose read has the same name. */
    foreseen: { name: string; rows: Promise<object[]> } | null
  }
  interface FastifyContextConfig {
    /**
     * Returns the read for a request with this body, if the body alone determines it. The read runs during
     * admission, for the organisation that had this key the last time, and its result is used only if the
     * caller is admitted to that organisation and sheet.
     */
    foresee?: (sheet: SheetKey, bodyText: string) => ForeseenRead | undefined
  }
}

const MAX_BODY_BYTES = 1024
const MAX_KNOWN = 10_000
/** The number of speculative reads at once. Beyond it requests are admitted in batches, which costs less. */
const MAX_AT_ONCE = 2

/**
 * Creates the speculative reads. A request that reads waits for the database twice: for its admission and for
 * its data. If a caller repeats a request that was admitted the last time, both are sent at once. After a
 * refusal the next request reads nothing in advance.
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

  /** Counts a read until it ends. The user of its rows handles a failure. */
  async function countUntilRead(rows: Promise<unknown>): Promise<void> {
    underWay += 1
    await rows.catch(() => undefined)
    underWay -= 1
  }

  return {
    /**
     * Starts the admission together with the read. Returns undefined if the request must be admitted in the
     * usual way.
     */
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

/** Returns a short body that arrived with its headers. The body stays in the stream for its reader. */
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
