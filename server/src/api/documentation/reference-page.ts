import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { handleNotFound } from '../http/errors.ts'
import type { Api } from '../services.ts'

/**
 * The content security policy. The page loads everything from this server, and the browser is told to accept
 * nothing else.
 */
const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/**
 * Serves the API reference for people to read and try. The library that renders it is loaded at the first
 * request, because loading it took a tenth of each start.
 */
export function showReference(app: Api, prefix: string, url: string): void {
  let opened: ReturnType<typeof openPages> | undefined
  async function show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = ''] = request.url.split('?')
    // The links of the page are relative to its address.
    if (path === prefix) return reply.redirect(`${prefix}/`, 301)
    opened ??= openPages(prefix, url)
    const read = await opened
    const page = await read(path, chooseCoding(request.headers['accept-encoding']))
    if (page === null) return handleNotFound(request, reply)
    if (page.coding !== null) void reply.header('content-encoding', page.coding)
    return reply
      .headers({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' })
      .headers({ 'content-type': page.type, vary: 'accept-encoding' })
      .send(page.bytes)
  }
  // The path with a slash at the end and the path without one are the same route.
  for (const path of [prefix, `${prefix}/*`])
    app.get(path, { config: { scope: 'public' }, schema: { hide: true } }, show)
}

type Page = { type: string; coding: Coding | null; bytes: Buffer }
type Coding = 'br' | 'gzip'

const COMPRESS: Record<Coding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
}

/**
 * Opens the pages of the reference, with the assistant, sharing and deployment of the library's maker turned
 * off.
 */
async function openPages(prefix: string, url: string) {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const inner = Fastify()
  await inner.register(scalar, {
    routePrefix: prefix as `/${string}`,
    configuration: {
      url,
      pageTitle: 'Loam API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  /** Each page is rendered and compressed once in the life of the process, because pages never change. */
  const known = new Map<string, Promise<Page>>()

  async function compressed(type: string, bytes: Buffer, coding: Coding): Promise<Page> {
    return { type, coding, bytes: await COMPRESS[coding](bytes) }
  }
  return async (path: string, coding: Coding | null): Promise<Page | null> => {
    const key = `${coding ?? 'plain'} ${path}`
    const found = known.get(key)
    if (found !== undefined) return found
    const answer = await inner.inject({ url: path })
    if (answer.statusCode !== 200) return null
    const type = String(answer.headers['content-type'])
    const bytes = answer.rawPayload
    const page =
      coding === null || bytes.length < 1000
        ? Promise.resolve({ type, coding: null, bytes })
        : compressed(type, bytes, coding)
    known.set(key, page)
    return page
  }
}

function chooseCoding(accepted: string | undefined): Coding | null {
  if (/\bbr\b/.test(accepted ?? '')) return 'br'
  return /\bgzip\b/.test(accepted ?? '') ? 'gzip' : null
}
