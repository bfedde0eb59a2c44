import Fastify, { type RouteOptions } from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ENDPOINTS, SHEET_ENDPOINTS } from '#contract/endpoints.ts'
import { registerRoutes } from '#server/api/routes.ts'
import { makeApp } from '../plumbing/harness.ts'

type Route = { query: unknown; body: unknown; answers: z.ZodType[] }
type Schemas = { query?: z.ZodType; body?: z.ZodType; answer?: z.ZodType; dryRun?: z.ZodType }

const SHEET = '/workflows/:workflow_id/sheets/:sheet_id'
const table: Record<string, Schemas> = {
  ...ENDPOINTS,
  ...Object.fromEntries(
    Object.entries(SHEET_ENDPOINTS).map(([endpoint, schemas]) => [
      endpoint.replace(/ (\/internal)?/, ` $1${SHEET}`),
      schemas,
    ]),
  ),
}

/** Returns the routes of the server by method and path, with their schemas. */
async function readRoutes(): Promise<Map<string, Route>> {
  const { services } = await makeApp()
  const routes = new Map<string, Route>()
  const app = Fastify().withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(serializerCompiler)
  app.addHook('onRoute', ({ method, url, schema = {} }: RouteOptions) => {
    const path = url.replace(/^\/api\/v1/, '')
    routes.set(`${String(method)} ${path}`, {
      query: schema.querystring,
      body: schema.body,
      answers: Object.entries(schema.response ?? {}).flatMap(([status, answer]) =>
        status.startsWith('2') ? readAnswers(answer) : [],
      ),
    })
  })
  await registerRoutes(app, services)
  await app.close()
  return routes
}

/** Returns the schemas of the data that an envelope can hold: several if a dry run has another one. */
function readAnswers(envelope: unknown): z.ZodType[] {
  if (envelope instanceof z.ZodUnion) return envelope.options.flatMap(readAnswers)
  const data = envelope instanceof z.ZodObject ? envelope.shape['data'] : undefined
  return data instanceof z.ZodType ? [data] : []
}

/** Returns a schema as text. An absent body counts as `{}` where the route has a default. */
function print(schema: unknown, io: 'input' | 'output'): string | undefined {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return print(schema.unwrap(), io)
  return schema instanceof z.ZodType
    ? JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
    : undefined
}

it('the endpoints of the contract are routes of the server with the same schemas', async () => {
  const routes = await readRoutes()
  const wrong = Object.entries(table).flatMap(([endpoint, { query, body, answer, dryRun }]) => {
    const route = routes.get(endpoint)
    if (route === undefined) return [`${endpoint}: the server has no such route`]
    const answers = new Set(route.answers.map((one) => print(one, 'output')))
    const isAnswer = (one: z.ZodType | undefined) => one === undefined || answers.has(print(one, 'output'))
    return [
      ...(query !== undefined && print(query, 'input') !== print(route.query, 'input')
        ? [`${endpoint}: the route takes another query`]
        : []),
      ...(print(body, 'input') === print(route.body, 'input')
        ? []
        : [`${endpoint}: the route takes another body`]),
      ...(isAnswer(answer) ? [] : [`${endpoint}: the route has another answer`]),
      ...(isAnswer(dryRun) ? [] : [`${endpoint}: the route has another answer to a dry run`]),
    ]
  })
  expect(wrong).toEqual([])
})
