import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { onMisfit } from '../catalog/provider/misfits.ts'
import { rateLimitExceeded } from '../lib/errors.ts'
import { onHeldThread } from '../lib/timing/thread-watch.ts'
import { clientAddress } from './http/client-address.ts'
import { ok } from './http/envelope.ts'
import { createAddressLimit } from './load/address-limit.ts'
import type { Api, Services } from './services.ts'

/** The time for which a successful check of the database is reused. */
const FRESH_MS = 250
/**
 * The limit of /readyz for each address. Twenty a second, because scripts that wait for a start ask often.
 */
const MAX_PER_MINUTE = 1200

/** Adds the endpoints for an operator's tools: liveness, readiness and metrics. */
export function healthRoutes(
  app: Api,
  { config, store }: Pick<Services, 'config' | 'store'>,
  readyPerMinute = MAX_PER_MINUTE,
): void {
  const registry = collectMetrics(app)
  const findDatabaseFault = createDatabaseCheck(app, store)
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })

  const hidden = { config: { scope: 'public' as const, waits: true as const }, schema: { hide: true } }
  app.get('/healthz', hidden, () => ok({ alive: true }))
  const waitSeconds = createAddressLimit(readyPerMinute)
  app.get('/readyz', hidden, async (request, reply) => {
    const seconds = waitSeconds(clientAddress(request, config.LOAM_TRUST_PROXY))
    if (seconds > 0) throw rateLimitExceeded(readyPerMinute, 'minute', seconds)
    const reason = closing ? 'shutting down' : await findDatabaseFault()
    if (reason === null) return ok({ ready: true })
    return reply
      .header('retry-after', 1)
      .send({ status: 503, error: 'Service Unavailable', message: `Not ready: ${reason}` })
  })
  app.get('/metrics', hidden, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  )
}

/** Collects the metrics of this process until the server closes. */
function collectMetrics(app: Api): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const seconds = new Histogram({
    name: 'loam_http_request_seconds',
    help: 'Time to answer, by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown')
    seconds.observe(
      { method: request.method, route, status: String(reply.statusCode) },
      reply.elapsedTime / 1000,
    )
  })

  const misfits = new Counter({
    name: 'loam_provider_misfits_total',
    help: 'Provider replies without the expected shape, in this process',
    labelNames: ['provider'],
    registers: [registry],
  })
  const unsubscribe = onMisfit(({ provider }) => misfits.inc({ provider }))
  const unwatch = countHeldThread(registry)
  app.addHook('onClose', async () => {
    unsubscribe()
    unwatch()
  })
  return registry
}

/** Measures how long work holds the main thread. Returns the function that ends it. */
function countHeldThread(registry: Registry): () => void {
  const held = new Histogram({
    name: 'loam_thread_held_seconds',
    help: 'Processor time of the main thread without a pause, if 0.2 s or more, by the work it did',
    labelNames: ['work'],
    buckets: [0.5, 1, 2, 5, 10, 30],
    registers: [registry],
  })
  const longest = new Gauge({
    name: 'loam_thread_held_seconds_max',
    help: 'The longest processor time of the main thread without a pause, since the process started',
    registers: [registry],
  })
  let longestMs = 0
  return onHeldThread(({ ms, work }) => {
    held.observe({ work }, ms / 1000)
    longestMs = Math.max(longestMs, ms)
    longest.set(longestMs / 1000)
  })
}

/**
 * Returns a function that finds why the database cannot serve, or null. The database is asked at most every 250 ms,
 * however many requests arrive.
 */
function createDatabaseCheck({ log }: Api, store: Services['store']): () => Promise<string | null> {
  let lastCheck: { at: number; answer: Promise<string | null> } | undefined

  async function askDatabase(): Promise<string | null> {
    try {
      await store.query({ text: 'select 1' })
      return null
    } catch (cause) {
      log.warn({ err: cause }, 'the database does not answer')
      return 'the database does not answer'
    }
  }

  return () => {
    const now = performance.now()
    if (lastCheck === undefined || now - lastCheck.at > FRESH_MS)
      lastCheck = { at: now, answer: askDatabase() }
    return lastCheck.answer
  }
}
