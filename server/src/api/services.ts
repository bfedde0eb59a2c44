import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyContextConfig, FastifyInstance } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { Agent } from '../agent/agent.ts'
import type { Models } from '../catalog/models/models.ts'
import type { ProviderGates } from '../catalog/provider/access.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db, Store } from '../database/connection/db.ts'
import type { Storage } from '../files/storage/storage.ts'
import type { Config } from '../lib/config/config.ts'
import type { Egress } from '../lib/egress/egress.ts'
import type { Log } from '../lib/log.ts'
import type { SendMail } from '../lib/mail.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import type { SourceCatalogue } from '../sources/registry.ts'
import type { RouteScope } from './http/admission.ts'
import type { BodyClass } from './http/body.ts'
import type { Caller } from './http/caller.ts'
import type { OpenCall } from './http/idempotency.ts'

/** The services that the routes need; `main` and the tests provide them. */
export type Services = {
  config: Config
  store: Store
  storage: Storage
  log: Log
  sealer: Sealer
  egress: Egress
  sendMail: SendMail | null
  catalogue: Catalogue
  agent: Agent
  sources: SourceCatalogue
  /** The limits on calls to providers that all processes share. */
  gates: ProviderGates
  models: Pick<Models, 'find'>
  /** Returns the address used in links. It is known only once the server listens. */
  publicUrl: () => string
  /** The folder of the built dashboard, which may not exist. */
  dashboardFolder: string
}

export type Api = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

/** A declared route with its requirements. Tests go through all of them. */
export type DeclaredRoute = {
  method: string
  url: string
  scope: RouteScope | undefined
  config: FastifyContextConfig
}

declare module 'fastify' {
  interface FastifyInstance {
    declaredRoutes: DeclaredRoute[]
  }
  interface FastifyRequest {
    /** Marks the rest of a request as bulk work, once nobody waits for it any more. */
    endForeground: () => void
    /**
     * Ends the turn of the request before its answer: from here on it waits for something and must not block
     * others.
     */
    endTurn: () => void
    /** The caller. It is set on every route that is not public. */
    caller: Caller
    /**
     * The database handle of the caller's organisation, inside one transaction if the request has an
     * `Idempotency-Key`.
     */
    db: Db
    warnings: Warning[]
    bodyText: string
    idempotentCall: OpenCall | null
    sealer: Sealer
    catalogue: Catalogue
  }
  interface FastifyContextConfig {
    scope?: RouteScope
    /**
     * Allows keys with `allowed_workflow_ids` although the path names no workflow: the route is about the
     * caller, or checks the workflows itself (D13).
     */
    narrowedKeys?: 'allowed'
    /** Counts the callers of a public route by address. */
    metered?: boolean
    /** Excludes the route from the load limit, because its answer waits for others or must always come. */
    waits?: true
    /**
     * Marks a route that calls other services and holds no transaction during the call. `repeatable`: the
     * call may be repeated, so a request with an `Idempotency-Key` is leased; `committed`: the handler
     * commits its effect first.
     */
    callsOut?: 'repeatable' | 'committed'
    /** Marks a route that reads its body itself and claims an `Idempotency-Key` once it knows the content. */
    claimsKeyItself?: true
    /** The size limit of the body. Every route with a body declares one. */
    body?: BodyClass
    /**
     * Finds the resource in the path. Throws 404 if it is absent and 403 if the caller may not use it (D7).
     */
    resource?: (request: FastifyRequest) => Promise<void>
    /** The name of the body in error paths if it is not an object, as `inputs` in `inputs[0].type`. */
    bodyName?: string
    /**
     * Finds further errors inside a body that failed validation, so that every failure is reported at once
     * (D5).
     */
    furtherErrors?: (request: FastifyRequest) => Promise<FieldError[]>
    /** Adds `request_id` to every answer of the route. */
    namesRequest?: boolean
    /** Returns the named code of a 400 for an invalid body (D5). */
    codeOfBadBody?: (errors: readonly FieldError[]) => string
    /** Marks a route that may spend credits: an unknown field that looks like a cap is refused (M5). */
    spends?: true
    /** Marks a route that selects rows to run, bill, export or delete: any unknown field is refused (D86). */
    selects?: true
    /** Marks a route that refuses any unknown field, because one that is left out would change what it does. */
    exact?: true
    /**
     * The fields, anywhere in the body, whose numbers arrive as NumberText with every digit that was sent.
     */
    numberTexts?: 'all' | readonly string[]
  }
}
