import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { ErrorBody, RateLimitBody, ValidationErrorBody } from '#contract/errors.ts'
import { PRODUCT } from '#contract/names.ts'
import { pause } from '../../lib/timing/turns.ts'
import { annotate, BODY_IS_OPTIONAL } from '../documentation/annotate.ts'
import { mergeEqualPaths } from '../documentation/equal-paths.ts'
import { showReference } from '../documentation/reference-page.ts'
import type { Api } from '../services.ts'
import { takesKeys } from './idempotency.ts'
import { INTERNAL_PREFIX } from './sessions.ts'

export const API_PREFIX = '/api/v1'

/**
 * The errors that any authenticated endpoint can answer. 400 and 404 are so common that every endpoint lists
 * them.
 */
const ERRORS = {
  400: ValidationErrorBody,
  401: ErrorBody,
  403: ErrorBody,
  404: ErrorBody,
  429: RateLimitBody,
  500: ErrorBody,
  503: ErrorBody,
}

/**
 * The further error of endpoints that change something: the resource may not be in a state that allows it.
 */
const CHANGE_ERRORS = { 409: ErrorBody }
/** The further errors of endpoints with a body, which may be too large or of another type. */
const BODY_ERRORS = { 413: ErrorBody, 415: ErrorBody }
/** The further error of endpoints with an Idempotency-Key, which may have been used with another request. */
const KEY_ERRORS = { 422: ErrorBody }

const toJsonSchema = createJsonSchemaTransform({ skipList: [] })
const withComponents = createJsonSchemaTransformObject({})

type Describe = NonNullable<FastifyDynamicSwaggerOptions['transform']>
type Route = Parameters<Describe>[0]['route']

const describeRoute: Describe = (document) => {
  const { schema, route } = document
  // The dashboard's own endpoints are not listed: they may change with the dashboard.
  if (route.url.startsWith(INTERNAL_PREFIX)) return { schema: { hide: true }, url: document.url }
  const response = {
    ...ERRORS,
    ...(route.method === 'GET' ? {} : CHANGE_ERRORS),
    ...(takesKeys(route.method) ? KEY_ERRORS : {}),
    ...(schema.body === undefined && route.config?.body !== 'file' ? {} : BODY_ERRORS),
    ...(schema.response as Record<string, unknown> | undefined),
  }
  const described = toJsonSchema({ ...document, schema: { ...schema, response } })
  const scope = route.config?.scope
  const needs = scope === undefined || scope === 'any key' ? 'any key, no scope' : `\`${scope}\``
  const limit = route.bodyLimit === undefined ? {} : { 'x-max-body-bytes': route.bodyLimit }
  const mayLack = schema.body instanceof z.ZodType && schema.body.safeParse(undefined).success
  const optional = mayLack ? { [BODY_IS_OPTIONAL]: true } : {}
  const words = { description: `Needs: ${needs}`, ...limit, ...optional }
  return { ...described, schema: { ...described.schema, ...words } }
}

type Components = NonNullable<OpenAPIV3_1.ComponentsObject['schemas']>

/** Returns the schemas that have a name, whether a route uses them or not. */
function makeComponents(): Components {
  const document = withComponents({ openapiObject: VERSION }) as Partial<OpenAPIV3_1.Document>
  return document.components?.schemas ?? {}
}

const VERSION = { openapi: '3.1.0' } as const

/** The functions that return the document of each server as JSON, by its HTTP server. */
const documents = new WeakMap<object, () => Promise<string>>()

/**
 * Generates OpenAPI 3.1 from the routes themselves, so that it always matches what they accept and answer. The document is
 * made at the first request, route by route between other work, and kept.
 */
export async function describeApi(app: Api): Promise<void> {
  const routes: Route[] = []
  const described = new WeakMap<Route, ReturnType<Describe>>()
  let components: Components | undefined
  app.addHook('onRoute', (route) => void routes.push(route as Route))
  await app.register(swagger, {
    openapi: {
      ...VERSION,
      info: {
        title: PRODUCT,
        version: '1.0.0',
        description: 'Workflow data enrichment: tables, actions, runs. Every request carries an API key.',
        contact: { name: 'The operator of this server' },
        license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    transform: (document) => described.get(document.route) ?? describeRoute(document),
    transformObject: (document) => {
      if (!('openapiObject' in document)) throw new Error('the document is not OpenAPI 3')
      const { openapiObject } = document
      const schemas = { ...openapiObject.components?.schemas, ...(components ?? makeComponents()) }
      const whole = { ...openapiObject, components: { ...openapiObject.components, schemas } }
      return annotate(pruneSchemas(whole as OpenAPIV3_1.Document))
    },
  })
  const make = async (): Promise<string> => {
    for (const route of routes) {
      if (route.schema === undefined) continue
      await pause()
      const { schema, url } = route
      described.set(route, describeRoute({ schema, url, route, openapiObject: VERSION }))
    }
    await pause()
    components = makeComponents()
    await pause()
    const document = app.swagger() as OpenAPIV3_1.Document
    await pause()
    return JSON.stringify(mergeEqualPaths(document))
  }
  let made: Promise<string> | undefined
  documents.set(app.server, () => (made ??= make()))
}

export function openApiRoutes(api: Api): void {
  api.get('/openapi.json', { config: { scope: 'public' }, schema: { hide: true } }, async (_, reply) => {
    const text = await documents.get(api.server)?.()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}

/** Serves the reference for people to read and try, made from the same document. */
export function showApi(app: Api): void {
  showReference(app, '/docs', `${API_PREFIX}/openapi.json`)
}

/** Removes unused schemas: the transform registers each schema twice (as input and output). */
function pruneSchemas(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const all = document.components?.schemas ?? {}
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used.has(name)) continue
      used.add(name)
      visit(all[name] ?? {})
    }
  }
  visit(document.paths ?? {})
  const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)))
  return { ...document, components: { ...document.components, schemas } }
}
