import type { IncomingMessage } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyRequest, LogController } from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { resumeWork, workAs } from '../lib/timing/thread-watch.ts'
import { foreground } from '../lib/timing/yielding.ts'
import { createAdmission } from './http/admission.ts'
import { BODY_CLASSES, DEFAULT_CLASS, hasNoBody, parseJsonBody, refuseBytes } from './http/body.ts'
import { endConnectionsOnClose } from './http/closing.ts'
import { limitConnections } from './http/connection-limits.ts'
import { answerOptions, requireDeclarations } from './http/declarations.ts'
import { completeEnvelope } from './http/envelope.ts'
import { handleError, handleNotFound, rawErrorAnswer } from './http/errors.ts'
import { claimIdempotencyKey, replayDeletion, settleIdempotencyKey } from './http/idempotency.ts'
import { describeApi, showApi } from './http/openapi.ts'
import { endStalledRequests } from './http/progress.ts'
import { discardRefusedBodies } from './http/refused-bodies.ts'
import { logRequest, requestId } from './http/request-log.ts'
import { mountPublicApi } from './http/sessions.ts'
import { checkRequest } from './http/validation.ts'
import { refuseEarly } from './load/early-refusal.ts'
import { createOverloadGuard } from './load/overload.ts'
import { createRequestOwners } from './load/request-owners.ts'
import { createRequestTurns } from './load/request-turns.ts'
import { registerRoutes } from './routes.ts'
import type { Api, Services } from './services.ts'

export async function createApp(services: Services): Promise<Api> {
  const app = createServer(services)
  const isRefused = addHooks(app, services)
  endConnectionsOnClose(app)
  endStalledRequests(app, services.config.LOAM_REQUEST_STALL_SECONDS * 1000)
  requireDeclarations(app)
  answerOptions(app)
  await describeApi(app)
  await registerRoutes(app, services)
  showApi(app)
  // Must come last: it takes over all listeners for requests that were added before.
  refuseEarly(app, isRefused)
  discardRefusedBodies(app)
  return app
}

/**
 * The status sent on a connection whose bytes are not a valid HTTP request, by the error code of Node. The
 * default is 400.
 */
const RAW_STATUSES: Record<string, 408 | 431> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/** The time after which a connection is destroyed once it has been sent such a status. */
const RAW_GRACE_MS = 10_000

function createServer({ log }: Pick<Services, 'log'>): Api {
  const loggerInstance: FastifyBaseLogger = log
  const app: Api = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines name their request themselves. One logger per request would cost more than most log lines.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_CLASSES[DEFAULT_CLASS].bytes,
    http: { connectionsCheckingInterval: 5000 },
    forceCloseConnections: 'idle',
    genReqId: requestId,
    rewriteUrl: ({ url }) => mountPublicApi(url),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_000 },
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return
      socket.end(rawErrorAnswer(RAW_STATUSES[error.code] ?? 400))
      setTimeout(() => socket.destroy(), RAW_GRACE_MS).unref()
    },
  }).withTypeProvider<ZodTypeProvider>()

  // The hook `checkRequest` validates requests instead, because it reports every failure at once.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', parseJsonBody)
  app.addContentTypeParser('*', refuseBytes)
  return app
}

/**
 * Returns true for routes that only read, judged by their scope: lists are read with POST, so the method does
 * not tell.
 */
const isRead = ({ is404, routeOptions }: FastifyRequest): boolean =>
  !is404 && routeOptions.config.scope?.endsWith(':read') === true

/** Declares what the hooks add to a request. */
function decorateRequests(app: Api): void {
  app.decorateRequest('caller')
  app.decorateRequest('db')
  app.decorateRequest('warnings')
  app.decorateRequest('bodyText', '')
  app.decorateRequest('turnOwner', null)
  app.decorateRequest('idempotentCall', null)
  app.decorateRequest('admittedSheet', null)
  app.decorateRequest('sealer')
  app.decorateRequest('catalogue')
  app.decorateRequest('endForeground')
  app.decorateRequest('endTurn', () => undefined)
}

/**
 * Adds the hooks that every request goes through, in this order. Returns a function that tells whether to
 * refuse a request before all of them.
 */
function addHooks(
  app: Api,
  { config, store, sealer, catalogue, log, publicUrl }: Services,
): (raw: IncomingMessage) => boolean {
  decorateRequests(app)
  const guard = createOverloadGuard<FastifyRequest>(config.LOAM_OVERLOAD_MS, log)
  const turns = createRequestTurns<FastifyRequest>()
  const owners = createRequestOwners(config.LOAM_TRUST_PROXY)
  const connections = limitConnections(
    app,
    {
      total: config.LOAM_CONNECTIONS,
      perAddress: config.LOAM_CONNECTIONS_PER_ADDRESS,
      trusted: config.LOAM_TRUST_PROXY,
    },
    log,
  )
  const limits = {
    perMinute: config.LOAM_RATE_LIMIT_PER_MINUTE,
    perDay: config.LOAM_RATE_LIMIT_PER_DAY,
    publicUrl,
  }
  const admission = createAdmission(store, limits, owners, (request, owner) =>
    turns.take(request, owner, 'admission'),
  )
  app.addHook('onRequest', (request, _reply, done) => {
    workAs(`${request.method} ${request.routeOptions.url ?? 'unknown'}`, done)
  })
  app.addHook('onRequest', async (request, reply) => {
    request.warnings = []
    request.sealer = sealer
    request.catalogue = catalogue
    request.endForeground = foreground(isRead(request) ? 'read' : 'run')
    request.endTurn = () => {
      guard.leave(request)
      turns.leave(request)
    }
    reply.raw.once('close', () => {
      request.endForeground()
      request.endTurn()
    })
    if (hasNoBody(request)) delete request.headers['content-type']
    void reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
    const owner = owners.findOwner(request)
    // The key of this request was admitted before.
    if (owner.owner !== owner.address) connections.welcome(request.raw.socket)
    if (request.routeOptions.config.waits !== true) guard.enter(request, owner.owner)
    try {
      await admission(request, reply, owner)
    } catch (cause) {
      if (!(await replayDeletion(request, reply, cause))) throw cause
      return reply
    } finally {
      if (request.caller !== undefined) connections.welcome(request.raw.socket)
      turns.leave(request)
    }
    return undefined
  })
  app.addHook('preValidation', async (request) => {
    const owner = request.caller?.orgId ?? request.turnOwner
    if (owner === null || request.routeOptions.config.waits === true) return
    await turns.take(request, owner, 'handler')
  })
  app.addHook('preValidation', checkRequest)
  app.addHook('preHandler', (_request, _reply, done) => {
    resumeWork()
    done()
  })
  app.addHook('preHandler', async (request, reply) =>
    request.routeOptions.config.claimsKeyItself === true ? undefined : claimIdempotencyKey(request, reply),
  )
  app.addHook('preSerialization', completeEnvelope)
  app.addHook('onSend', settleIdempotencyKey)
  // The turn ends before the answer is sent, so that a client that reads slowly blocks no other request.
  app.addHook('onSend', async (request) => request.endTurn())
  app.addHook('onResponse', logRequest)
  return (raw) => guard.refuses(() => owners.findOwnerOfRaw(raw))
}
