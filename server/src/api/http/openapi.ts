import swagger from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { ErrorBody, RateLimitBody, ValidationErrorBody } from '#contract/errors.ts'
import { PRODUCT } from '#contract/names.ts'
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

/**
 * Generates OpenAPI 3.1 from the routes themselves, so that it always matches what they accept and answer.
 */
export async function describeApi(app: Api): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
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
    transform: (document) => {
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
    },
    transformObject: (document) => annotate(pruneSchemas(withComponents(document) as OpenAPIV3_1.Document)),
  })
}

export function openApiRoutes(api: Api): void {
  api.get('/openapi.json', { config: { scope: 'public' }, schema: { hide: true } }, () =>
    mergeEqualPaths(api.swagger() as OpenAPIV3_1.Document),
  )
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
