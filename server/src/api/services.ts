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
import type { BodyClass } from './http/body-classes.ts'
import type { Caller } from './http/caller.ts'
import type { OpenCall } from './http/idempotency.ts'

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
  agent: Agent
  sources: SourceCatalogue
  /** The limits on calls to providers that all processes share. */
  gates: ProviderGates
  models: Pick<Models, 'find'>
  /** Address in links; known only once the server listens. */
  publicUrl: () => string
  /** Where the built dashboard lies, if there is one. */
  dashboardFolder: string
}

export type Api = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>

/** What there is to ask for, and what it needs: tests try all of it. */
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
    /** For what takes long after all that somebody waits for: it goes on as bulk work does. */
    endForeground: () => void
    /** Ends its turn before its answer: it waits for something from here on, and keeps nobody from working. */
    endTurn: () => void
    /** Set on every route that is not public. */
    caller: Caller
    /** Speaks for the caller's organisation; in one transaction where the request has an `Idempotency-Key`. */
    db: Db
    warnings: Warning[]
    bodyText: string
    idempotentCall: OpenCall | null
    sealer: Sealer
  }
  interface FastifyContextConfig {
    scope?: RouteScope
    /** Open to keys with `allowed_workflow_ids` though its path names no workflow: it is about the caller, or looks at them itself (D13). */
    narrowedKeys?: 'allowed'
    /** A public route whose callers are counted by address all the same. */
    metered?: boolean
    /** Its answer waits for others, or must always come: it is no part of the load that is limited. */
    waits?: true
    /**
     * Asks others outside, and holds no transaction meanwhile. `repeatable`: what it asks may be asked again, so a call with an
     * `Idempotency-Key` is leased; `committed`: the handler commits its effect first.
     */
    callsOut?: 'repeatable' | 'committed'
    /** Reads its body by itself and claims an `Idempotency-Key` when it knows what was sent. */
    claimsKeyItself?: true
    /** How large its body may be; every route that reads one says so. */
    body?: BodyClass
    /** Finds what the path names: 404 when it is absent, 403 when the caller may not use it (D7). */
    resource?: (request: FastifyRequest) => Promise<void>
    /** Name of the body in error paths when it is not an object, as `inputs` in `inputs[0].type`. */
    bodyName?: string
    /** What is wrong inside a body whose shape was refused, so that every failure is reported at once (D5). */
    furtherErrors?: (request: FastifyRequest) => Promise<FieldError[]>
    /** Every answer of the route names its request in `request_id`. */
    namesRequest?: boolean
    /** The named code of a 400 for what was sent (D5). */
    codeOfBadBody?: (errors: readonly FieldError[]) => string
    /** It starts what may cost credits: an unknown field that looks like a cap is refused (M5). */
    spends?: true
    /** It selects rows that are run, billed, exported or deleted: any unknown field is refused (D86). */
    selects?: true
    /** Fields, wherever they stand in the body, whose numbers arrive as NumberText, with every digit that was sent. */
    numberTexts?: 'all' | readonly string[]
  }
}
