import type { Api, DeclaredRoute } from '../services.ts'
import { BODY_CLASSES } from './body.ts'
import { API_PREFIX } from './openapi.ts'
import { INTERNAL_PREFIX } from './sessions.ts'

/** The methods whose bodies Fastify does not read. */
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/**
 * Throws if a route does not declare its scope or its body size. Such a route is a security hole, so the
 * server does not start with one.
 */
export function requireDeclarations(app: Api): void {
  const declared: DeclaredRoute[] = []
  app.decorate('declaredRoutes', declared)
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const config = route.config ?? {}
      declared.push({ method, url: route.url, scope: config.scope, config })
    }
    const name = `${String(route.method)} ${route.url}`
    const isDeclared = [API_PREFIX, INTERNAL_PREFIX].some((prefix) => route.url.startsWith(prefix))
    if (isDeclared && route.config?.scope === undefined) {
      throw new Error(`${name} does not declare its scope`)
    }
    if ([route.method].flat().every((method) => BODILESS.has(method))) return
    const body = route.config?.body
    if (body === undefined) throw new Error(`${name} does not declare how large its body may be`)
    route.bodyLimit = BODY_CLASSES[body].bytes
  })
}

/** Makes every path answer OPTIONS with the methods declared for it. */
export function answerOptions(app: Api): void {
  const methods = new Map<string, Set<string>>()
  app.addHook('onRoute', function (route) {
    // Paths that differ only in the names of their parameters are one path.
    const path = route.url.replaceAll(/:\w+/g, ':')
    const known = methods.get(path)
    const allowed = known ?? new Set(['OPTIONS'])
    for (const method of [route.method].flat()) allowed.add(method)
    methods.set(path, allowed)
    // Some routes answer OPTIONS themselves, to allow callers from other origins.
    if ([route.method].flat().includes('OPTIONS')) return
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
