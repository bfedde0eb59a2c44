import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import scalar from '@scalar/fastify-api-reference'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Storage } from '../files/storage.ts'
import type { Config } from '../lib/config/config.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { AppError, validationError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { SendMail } from '../lib/mail.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { foreground } from '../lib/timing/yielding.ts'
import type { Db, Store } from '../store/connection/db.ts'
import type { IdempotentCall } from '../store/organisation/idempotency.ts'
import { createAdmission, type RouteScope } from './http/admission.ts'
import type { Caller } from './http/caller.ts'
import { endConnectionsOnClose } from './http/closing.ts'
import { handleError, handleNotFound, rawErrorAnswer } from './http/errors.ts'
import { claimIdempotencyKey, settleIdempotencyKey } from './http/idempotency.ts'
import { BODY_LIMIT_BYTES, parseJsonBody } from './http/json-body.ts'
import { API_PREFIX, describeApi } from './http/openapi.ts'
import { checkPart } from './http/validation.ts'
import { actionLayoutRoutes } from './routes/actions/action-layout.ts'
import { actionRoutes } from './routes/actions/actions.ts'
import { exportFilePages } from './routes/files/export-files.ts'
import { exportRoutes } from './routes/files/exports.ts'
import { importRoutes } from './routes/files/imports.ts'
import { operationRoutes } from './routes/health.ts'
import { invitationPages } from './routes/organisation/invitations.ts'
import { memberRoutes } from './routes/organisation/members.ts'
import { userRoutes } from './routes/organisation/user.ts'
import { cellRoutes } from './routes/rows/cells.ts'
import { changeRoutes } from './routes/rows/changes.ts'
import { rowRoutes } from './routes/rows/rows.ts'
import { runRoutes } from './routes/runs/runs.ts'
import { shortcutRoutes } from './routes/shortcuts/shortcuts.ts'
import { webhookDeliveryRoutes } from './routes/webhooks/webhook-deliveries.ts'
import { hookRoutes } from './routes/webhooks/webhook-receiver.ts'
import { inputRoutes } from './routes/workflows/inputs.ts'
import { sheetRoutes } from './routes/workflows/sheets.ts'
import { workflowRoutes } from './routes/workflows/workflows.ts'

/** What the routes need from outside; `main` and the tests hand it in. */
export type Services = {
  config: Config
  store: Store
  storage: Storage
  log: Log
  sealer: Sealer
  egress: Egress
  sendMail: SendMail | null
  catalogue: Catalogue
  /** Address in links; known only once the server listens. */
  publicUrl: () => string
}

export type Api = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route that is not public. */
    caller: Caller
    /** Speaks for the caller's organisation. */
    db: Db
    warnings: Warning[]
    bodyText: string
    idempotentCall: IdempotentCall | null
  }
  interface FastifyContextConfig {
    scope?: RouteScope
    /** Finds what the path names: 404 when it is absent, 403 when the caller may not use it (D7). */
    resource?: (request: FastifyRequest) => Promise<void>
    /** Name of the body in error paths when it is not an object, as `inputs` in `inputs[0].type`. */
    bodyName?: string
    /** What is wrong inside a body whose shape was refused, so that every failure is reported at once (D5). */
    furtherErrors?: (request: FastifyRequest) => Promise<FieldError[]>
    /** Numbers in the body arrive as NumberText, with every digit that was sent. */
    numberTexts?: boolean
  }
}

export async function createApp(services: Services): Promise<Api> {
  const { config, store, log } = services
  const loggerInstance: FastifyBaseLogger = log
  const app: Api = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines name their request themselves; a logger of its own for each would cost more than most lines.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_LIMIT_BYTES,
    trustProxy: config.LOAM_TRUST_PROXY,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_000 },
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
    clientErrorHandler: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return
      socket.end(rawErrorAnswer(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400))
    },
  }).withTypeProvider<ZodTypeProvider>()

  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(handleError)
  app.setNotFoundHandler(handleNotFound)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    try {
      done(null, parseJsonBody(request, bytes))
    } catch (cause) {
      done(cause as Error)
    }
  })

  app.decorateRequest('caller')
  app.decorateRequest('db')
  app.decorateRequest('warnings')
  app.decorateRequest('bodyText', '')
  app.decorateRequest('idempotentCall', null)
  const admission = createAdmission(store, {
    perMinute: config.LOAM_RATE_LIMIT_PER_MINUTE,
    perDay: config.LOAM_RATE_LIMIT_PER_DAY,
  })
  app.addHook('onRequest', async (request, reply) => {
    request.warnings = []
    reply.raw.once('close', foreground())
    void reply.header('x-request-id', request.id)
    await admission(request, reply)
  })
  app.addHook('preValidation', checkRequest)
  app.addHook('preHandler', claimIdempotencyKey)
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (!isEnvelope(payload)) return payload
    void reply.code(payload.status)
    return request.warnings.length === 0
      ? payload
      : { ...payload, warnings: [...(payload.warnings ?? []), ...request.warnings] }
  })
  app.addHook('onSend', settleIdempotencyKey)
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 100) / 100,
        org_id: request.caller?.orgId,
        key_id: request.caller?.keyId,
      },
      'request',
    )
  })
  endConnectionsOnClose(app)
  requireDeclarations(app)
  answerOptions(app)
  await describeApi(app)

  operationRoutes(app, services)
  await app.register(async (pages: Api) => invitationPages(pages, services))
  exportFilePages(app, services)
  await app.register(async (hooks: Api) => hookRoutes(hooks, services))
  await app.register(
    async (api: Api) => {
      api.get('/openapi.json', { config: { scope: 'public' }, schema: { hide: true } }, () => app.swagger())
      userRoutes(api)
      memberRoutes(api, services)
      workflowRoutes(api, services)
      sheetRoutes(api)
      inputRoutes(api)
      actionRoutes(api, services)
      actionLayoutRoutes(api, services)
      rowRoutes(api, services)
      cellRoutes(api, services)
      runRoutes(api)
      changeRoutes(api, services)
      importRoutes(api, services)
      exportRoutes(api, services)
      shortcutRoutes(api)
      webhookDeliveryRoutes(api)
    },
    { prefix: API_PREFIX },
  )
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: `${API_PREFIX}/openapi.json` } })
  return app
}

function requestId(raw: { headers: Record<string, string | string[] | undefined> }): string {
  const given = raw.headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newId()
}

type Envelope = { status: number; warnings?: Warning[] }

function isEnvelope(payload: unknown): payload is Envelope {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    'status' in payload &&
    typeof payload.status === 'number'
  )
}

/** Body and query, each failure at once. Path parameters were checked at admission. */
async function checkRequest(request: FastifyRequest): Promise<void> {
  const { schema } = request.routeOptions
  if (request.is404 || schema === undefined) return
  if (schema.querystring !== undefined) {
    const checked = checkPart(schema.querystring as z.ZodType, request.query, 'query')
    request.query = checked.value
    request.warnings.push(...checked.warnings)
  }
  if (schema.body !== undefined) {
    const checked = await checkBody(request, schema.body as z.ZodType)
    request.body = checked.value
    request.warnings.push(...checked.warnings)
  }
}

async function checkBody(request: FastifyRequest, schema: z.ZodType) {
  const { bodyName = 'body', furtherErrors } = request.routeOptions.config
  try {
    return checkPart(schema, request.body, bodyName)
  } catch (refusal) {
    if (!(refusal instanceof AppError) || furtherErrors === undefined) throw refusal
    throw validationError([...(refusal.details.errors ?? []), ...(await furtherErrors(request))])
  }
}

/** A route without a declared scope is a hole: the server does not start with one. */
function requireDeclarations(app: Api): void {
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(API_PREFIX) && route.config?.scope === undefined) {
      throw new Error(`${String(route.method)} ${route.url} does not declare its scope`)
    }
  })
}

function answerOptions(app: Api): void {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', function (route) {
    const known = methods.get(route.url)
    const allowed = known ?? new Set(['OPTIONS'])
    for (const method of [route.method].flat()) allowed.add(method)
    methods.set(route.url, allowed)
    if (known !== undefined || route.url.includes('*')) return
    app.route({
      method: 'OPTIONS',
      url: route.url,
      config: { scope: 'public' },
      schema: { hide: true },
      handler: async (_request, reply) =>
        reply
          .code(204)
          .header('allow', [...allowed].sort().join(', '))
          .send(),
    })
  })
}
