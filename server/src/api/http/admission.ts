import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Scope } from '#contract/scopes.ts'
import { isUnavailable, type Store } from '../../database/connection/db.ts'
import { AppError, forbidden, notFound, rateLimitExceeded } from '../../lib/errors.ts'
import { createBatcher } from '../../lib/timing/batcher.ts'
import {
  type Admission,
  admitAll,
  noteUses,
  type PathSheet,
  type Visitor,
  type Window,
} from '../../organisation/store/admission.ts'
import type { SheetWithWorkflow } from '../../sheets/store/sheets.ts'
import type { createRequestOwners, RequestOwner } from '../load/request-owners.ts'
import { toCaller, requireScope } from './caller.ts'
import { bearerKey, readCredential, isInternal, requireOwnPage } from './sessions.ts'
import { checkPart } from './validation.ts'

/** The permission that a route requires: a scope, a valid key or session without a scope, or nothing. */
export type RouteScope = Scope | 'any key' | 'public'

declare module 'fastify' {
  interface FastifyRequest {
    /** The sheet in the path, if admission found it. The caller's access to it is not checked here. */
    admittedSheet: SheetWithWorkflow | null
  }
}

const SheetIds = z.object({ workflow_id: Uuid, sheet_id: Uuid })

export type Limits = { perMinute: number; perDay: number; publicUrl: () => string }
type Owners = ReturnType<typeof createRequestOwners>
/** Waits until the organisation may have another request admitted. */
type WaitForTurn = (request: FastifyRequest, owner: string) => Promise<void> | undefined

/**
 * Creates the checks before a body is read, in the order of D7: 401, 429, scope 403, malformed id 400, absent
 * resource 404 and access 403. The rest (body 400) follows in Fastify's own order, after parsing.
 */
export function createAdmission(store: Store, limits: Limits, owners: Owners, waitForTurn: WaitForTurn) {
  const admit = createBatcher<Visitor, Admission>({
    run: (visitors) => admitAll(store, visitors, limits),
    maxItems: 500,
    maxInFlight: 2,
    isolates: (cause) => !isUnavailable(cause),
  })

  const noteUse = createBatcher<string, string>({
    run: async (keyIds) => {
      await noteUses(store, keyIds)
      return keyIds
    },
    maxItems: 500,
    maxInFlight: 1,
  })

  return async function admission(
    request: FastifyRequest,
    reply: FastifyReply,
    { hash, address, owner }: RequestOwner,
  ): Promise<void> {
    const scope = findScope(request)
    if (scope === 'public' && !isApiPath(request) && !isMetered(request)) return

    if (hash !== null) await waitForTurn(request, owner)
    const visitor = { hash, address, sheet: readSheetIds(request) }
    await check(request, reply, scope, visitor)
  }

  async function check(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: RouteScope,
    visitor: Visitor,
  ): Promise<void> {
    const admitted = await admit(visitor)
    setRateHeaders(reply, admitted)
    // The last use of a key is written once in a while. If that fails, the request still succeeds: the next
    // one writes it.
    if (admitted.holder !== null && admitted.isUseDue)
      await noteUse(admitted.holder.key_id).catch((cause: unknown) =>
        request.log.warn({ err: cause }, 'the last use of a key could not be stored'),
      )

    if (admitted.holder === null && scope !== 'public' && admitted.granted) {
      if (!isInternal(request)) void reply.header('www-authenticate', 'Bearer')
      throw new AppError('Unauthorized', explainRefusal(request))
    }
    if (!admitted.granted) throw rateLimited(admitted)
    if (isInternal(request))
      requireOwnPage(request, limits.publicUrl(), scope === 'public' ? undefined : readCredential(request))
    if (admitted.holder !== null) {
      request.caller = toCaller(admitted.holder)
      request.admittedSheet = admitted.sheet
      request.db = store.org(admitted.holder.org_id)
      if (visitor.hash !== null) owners.remember(visitor.hash, admitted.holder.org_id)
    }
    if (scope !== 'public' && scope !== 'any key') requireScope(request.caller, scope)
    requireReach(request)
    checkParams(request)
    await request.routeOptions.config.resource?.(request)
  }
}

/** Returns the ids of the sheet in the path, or null. Malformed ids are refused later. */
function readSheetIds({ params }: FastifyRequest): PathSheet | null {
  if (typeof params !== 'object' || params === null || !('sheet_id' in params)) return null
  const ids = SheetIds.safeParse(params)
  return ids.success ? { workflowId: ids.data.workflow_id, sheetId: ids.data.sheet_id } : null
}

function findScope(request: FastifyRequest): RouteScope {
  const declared = request.is404 ? undefined : request.routeOptions.config.scope
  return declared ?? (isApiPath(request) ? 'any key' : 'public')
}

/**
 * Returns true for public pages that are counted by address, because looking up their link costs the database
 * work.
 */
function isMetered({ is404, routeOptions }: FastifyRequest): boolean {
  return !is404 && routeOptions.config.metered === true
}

/**
 * Returns true for paths of the API. The matched route decides, because one address can be spelled in many
 * ways.
 */
function isApiPath(request: FastifyRequest): boolean {
  const path = (request.is404 ? undefined : request.routeOptions.url) ?? request.url
  return /^\/api\/v1($|[/?])/.test(path) || isInternal(request)
}

/**
 * Refuses a narrowed key outside its workflows (D13): a path without a workflow concerns the whole
 * organisation.
 */
function requireReach({ caller, is404, routeOptions }: FastifyRequest): void {
  const { config, url } = routeOptions
  const isOpen = is404 || config.narrowedKeys === 'allowed' || url?.includes('/:workflow_id') === true
  if (isOpen || config.scope === 'public' || caller.allowedWorkflowIds === null) return
  throw forbidden('This key is limited to certain workflows, and the request concerns the whole organisation')
}

function explainRefusal(request: FastifyRequest): string {
  if (isInternal(request)) return 'You are not signed in, or the session has ended. Sign in again'
  if (request.headers.authorization === undefined) {
    return 'An API key is required: send the header Authorization: Bearer <API_KEY>'
  }
  return bearerKey(request) === undefined
    ? 'The Authorization header must have the form: Bearer <API_KEY>'
    : 'The API key is invalid, expired or revoked'
}

function setRateHeaders(reply: FastifyReply, { minute, day }: Admission): void {
  setWindowHeaders(reply, measureShareLeft(day) < measureShareLeft(minute) ? day : minute)
}

export function setWindowHeaders(reply: FastifyReply, window: Window): void {
  void reply.headers({
    'x-ratelimit-limit': window.limit,
    'x-ratelimit-remaining': Math.max(0, window.limit - window.used),
    'x-ratelimit-reset': window.resetsAt,
  })
}

function measureShareLeft(window: Window): number {
  return (window.limit - window.used) / window.limit
}

function rateLimited({ minute, day, now }: Admission): AppError {
  return day.used >= day.limit ? windowFull(day, 'day', now) : windowFull(minute, 'minute', now)
}

export function windowFull(full: Window, period: 'minute' | 'day', now: number): AppError {
  return rateLimitExceeded(full.limit, period, Math.max(1, Math.ceil(full.resetsAt - now)))
}

function checkParams(request: FastifyRequest): void {
  const schema = request.routeOptions.schema?.params as z.ZodType | undefined
  if (schema === undefined || request.is404) return
  const params = checkPart(schema, request.params, 'path').value
  // PostgreSQL cannot store NUL in a text, so no resource can have such a name.
  if (Object.values(params ?? {}).some((text) => String(text).includes('\0'))) throw notFound('Resource')
  request.params = params
}
