import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { clientAddress, wholeAddress } from '../../api/http/client-address.ts'
import { ok } from '../../api/http/envelope.ts'
import { checkPart } from '../../api/http/validation.ts'
import { createAddressLimit } from '../../api/load/address-limit.ts'
import type { Api, Services } from '../../api/services.ts'
import type { AppError } from '../../lib/errors.ts'
import { notFound, tooManyRequests } from '../../lib/errors.ts'
import { createMemo } from '../../lib/memo.ts'
import { hashToken } from '../../lib/security/keys.ts'
import { createBatcher } from '../../lib/timing/batcher.ts'
import { createInbox } from '../pulls/inbox/inbox.ts'
import { isSourceToken } from '../pulls/inbox/reception.ts'
import type { Way } from '../receive.ts'
import { readStored } from '../request.ts'
import { admitArrivals, saltOfDay, type SourceDoor } from '../store/source-tokens.ts'
import { isBot } from '../systems/visitors/beacon.ts'
import { PIXEL_SCRIPT } from '../systems/visitors/pixel-script.ts'

const RETRY_AFTER_S = 60
const SALT_MS = 60_000

/** The maximum number of beacons per minute from one address to one source. A person reading pages sends a few. */
const PER_ADDRESS = 60

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '86400',
}

/**
 * Registers the public routes for customers' pages and for services that identify visitors (D10). The token in the path
 * is their only credential.
 */
export function pixelRoutes(app: Api, services: Services): void {
  const take = createReception(services)
  app.addHook('onRequest', async (request, reply) => {
    // Beacons are sent as text, so that browsers send no preflight request.
    if (request.method === 'POST') request.headers['content-type'] = 'application/json'
    void reply.header('x-content-type-options', 'nosniff')
  })
  // Must come first: a path without a route for OPTIONS gets one with its first route.
  defineBeacons(app, services, take)
  defineScript(app)

  app.post(
    '/visitors/:token',
    { config: { scope: 'public', body: 'control' }, schema: { hide: true } },
    async (request) => ok({ accepted: (await take(request, 'webhook')) ? 1 : 0 }),
  )
}

type Take = ReturnType<typeof createReception>

/**
 * Returns a function that accepts what was posted to a token. It throws a 404 for an unknown token, and returns false
 * if the item is dropped. The item is durable when it returns.
 */
function createReception({ config, store, sealer, sources }: Services) {
  const admit = createBatcher<Buffer, SourceDoor | null>({
    run: (hashes) => admitArrivals(store, hashes, config.LOAM_PIXEL_PER_MINUTE),
    maxItems: 500,
    maxInFlight: 2,
  })
  const putIntoInbox = createInbox(store, sealer)
  const remember = createMemo<Buffer>({ max: 1, ttlMs: SALT_MS })
  const salt = () => remember('salt', () => saltOfDay(store.system, randomBytes(32)))

  return async function take(request: FastifyRequest, way: Way): Promise<boolean> {
    const { token } = request.params as { token: string }
    const door = isSourceToken(token) ? await admit(hashToken(token)) : null
    if (door === null || door.kind !== way) throw notFound('Source')
    const source = sources.get(door.slug)
    const posted = source?.receives?.posted
    if (door.status !== 'active' || source === undefined || posted?.way !== way) return false
    if (!door.granted) throw tooMany('this source has reached its limit for this minute')
    const sent = checkPart(posted.schema, request.body, 'body').value
    const stored = readStored(source, door.body)
    if (!stored.ok) return false
    const { headers } = request
    const address = wholeAddress(request, config.LOAM_TRUST_PROXY)
    const sender = { address, userAgent: headers['user-agent'] ?? '', origin: headers.origin }
    const item = posted.read(sent, { body: stored.body, sender, salt: await salt() })
    if (item !== null) await putIntoInbox(door, item)
    return item !== null
  }
}

function defineScript(app: Api): void {
  app.get(
    '/pixel/:token',
    { config: { scope: 'public' }, schema: { hide: true } },
    async (request, reply) => {
      const { token } = request.params as { token: string }
      if (!token.endsWith('.js') || !isSourceToken(token.slice(0, -3))) throw notFound('Script')
      return reply
        .headers({
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'public, max-age=3600',
          'cross-origin-resource-policy': 'cross-origin',
        })
        .send(PIXEL_SCRIPT)
    },
  )
}

function defineBeacons(app: Api, { config }: Services, take: Take): void {
  const waitSeconds = createAddressLimit(PER_ADDRESS)

  app.options(
    '/pixel/:token',
    { config: { scope: 'public' }, schema: { hide: true } },
    async (_request, reply) => reply.code(204).headers(CORS).send(),
  )

  app.post(
    '/pixel/:token',
    { config: { scope: 'public', body: 'beacon' }, schema: { hide: true } },
    async (request, reply) => {
      const { token } = request.params as { token: string }
      void reply.headers(CORS)
      if (isBot(request.headers['user-agent'] ?? '')) return reply.code(204).send()
      // Checked before any database query: a flood from one address costs nothing else.
      if (waitSeconds(`${token} ${clientAddress(request, config.LOAM_TRUST_PROXY)}`) > 0) {
        throw tooMany('this address has sent too many visits in this minute')
      }
      await take(request, 'pixel')
      return reply.code(204).send()
    },
  )
}

function tooMany(message: string): AppError {
  return tooManyRequests(message, RETRY_AFTER_S)
}
