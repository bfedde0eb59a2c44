import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Db, isUnavailable } from '../../database/connection/db.ts'
import { AppError, reasonOf, tooManyRequests } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import type { PriceBook } from '../../money/prices.ts'
import { findKeyHolder } from '../../organisation/store/admission.ts'
import type { Api, Services } from '../services.ts'
import { toCaller, requireScope } from './caller.ts'

/** The interval of access checks: a stream ends within 10 s after its reader loses access. */
const RECHECK_MS = 5000
const RETRY_SECONDS = 10

export type EventStreams = {
  /**
   * Turns the answer into a stream of server-sent events. Returns null if the caller has disconnected.
   * `onEnd` is called once, however the stream ends. An endless stream ends when the server shuts down.
   */
  open(
    request: FastifyRequest,
    reply: FastifyReply,
    options: { isEndless: boolean; onEnd: () => void },
  ): ServerResponse | null
}

/** The services that the routes share, in addition to those passed in. */
export type RouteServices = Services & { streams: EventStreams; prices: PriceBook }

type Stream = { request: FastifyRequest; response: ServerResponse; isEndless: boolean }

/**
 * Creates the streams of one process. Their number is limited for each key and organisation, and a stream
 * ends when its reader loses access.
 */
export function createEventStreams(
  api: Api,
  { store, config, log }: Pick<Services, 'store' | 'config' | 'log'>,
  recheckMs = RECHECK_MS,
): EventStreams {
  const streams = new Set<Stream>()
  const { LOAM_STREAMS_PER_KEY: perKey, LOAM_STREAMS_PER_ORG: perOrg } = config

  const check = async ({ request, response }: Stream) => {
    try {
      await requireAccess(store.system, request)
    } catch (cause) {
      if (isUnavailable(cause)) return
      log.debug({ cause: reasonOf(cause) }, 'ended a stream: its reader has lost access')
      response.end()
    }
  }
  const checks = new Set<Promise<void>>()
  const checkNow = (stream: Stream) => {
    const checking = check(stream).finally(() => checks.delete(checking))
    checks.add(checking)
  }
  const recheck = async () => {
    for (const stream of streams) await check(stream)
  }
  let rechecking: Promise<void> = Promise.resolve()
  let isRechecking = false
  const timer = setInterval(() => {
    if (isRechecking || streams.size === 0) return
    isRechecking = true
    rechecking = recheck().finally(() => (isRechecking = false))
  }, recheckMs)
  timer.unref()
  api.addHook('preClose', async () => {
    clearInterval(timer)
    for (const { response, isEndless } of streams) if (isEndless) response.end()
    await Promise.all([rechecking, ...checks])
  })

  return {
    open(request, reply, { isEndless, onEnd }) {
      const { keyId, orgId } = request.caller
      const callers = [...streams].map((stream) => stream.request.caller)
      requireRoom(callers.filter((caller) => caller.keyId === keyId).length, perKey, 'API key')
      requireRoom(callers.filter((caller) => caller.orgId === orgId).length, perOrg, 'organisation')
      reply.hijack()
      const response = reply.raw
      // The close event of a connection that closed before this point is never raised again.
      if (response.destroyed || response.closed || request.raw.destroyed || request.raw.socket.destroyed) {
        response.destroy()
        return null
      }
      const stream = { request, response, isEndless }
      streams.add(stream)
      // A revoked key or session is reported at once, whichever process revoked it.
      const unwatch = store.changes.watch(keyId, () => checkNow(stream))
      response.once('close', () => {
        unwatch()
        streams.delete(stream)
        onEnd()
      })
      response.on('error', () => response.destroy())
      response.writeHead(200, {
        ...reply.getHeaders(),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      } as Record<string, string>)
      return response
    },
  }
}

function requireRoom(open: number, limit: number, owner: string): void {
  if (open < limit) return
  const message = `This ${owner} has ${plural(limit, 'stream')} open, which is the limit. Close one, or try again later`
  throw tooManyRequests(message, RETRY_SECONDS)
}

/** Throws if the key, its scope, the member or their access to the path is gone. */
async function requireAccess(db: Db, request: FastifyRequest): Promise<void> {
  const { orgId, keyId } = request.caller
  const holder = await findKeyHolder(db, orgId, keyId)
  if (holder === undefined) throw new AppError('Unauthorized', 'The API key is invalid, expired or revoked')
  request.caller = toCaller(holder)
  const { scope, resource } = request.routeOptions.config
  if (scope !== undefined && scope !== 'public' && scope !== 'any key') requireScope(request.caller, scope)
  await resource?.(request)
}
