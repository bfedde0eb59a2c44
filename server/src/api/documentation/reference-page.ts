import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import type { Api } from '../services.ts'

/** Asks no other host for anything: what the page is made of comes from here, and the browser is told to accept nothing else. */
const POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/** The reference for people to read and try. Of the page's maker nothing is offered: no assistant, no sharing, no deployment. */
export async function showReference(app: Api, prefix: string, url: string): Promise<void> {
  await app.register(async (scope: Api) => {
    compressAnswers(scope)
    scope.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' })
    })
    await scope.register(scalar, {
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
  })
}

type Coding = 'br' | 'gzip'

const compress = {
  br: async (text: string | Buffer) =>
    promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: async (text: string | Buffer) => promisify(gzip)(text),
}

/** Compresses each path once for the life of the process: its answers never change. */
function compressAnswers(scope: Api): void {
  const known = new Map<string, Promise<Buffer>>()
  scope.addHook('onSend', async (request, reply, payload) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
    const coding = codingOf(request.headers['accept-encoding'])
    if (!isText || reply.statusCode !== 200 || coding === null || payload.length < 1000) return payload
    const key = `${coding} ${request.routeOptions.url ?? ''}`
    const compressed = known.get(key) ?? compress[coding](payload)
    known.set(key, compressed)
    void reply.removeHeader('content-length').headers({ 'content-encoding': coding, vary: 'accept-encoding' })
    return compressed
  })
}

function codingOf(accepted: string | undefined): Coding | null {
  if (/\bbr\b/.test(accepted ?? '')) return 'br'
  return /\bgzip\b/.test(accepted ?? '') ? 'gzip' : null
}
