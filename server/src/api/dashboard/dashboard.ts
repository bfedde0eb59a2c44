import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../../lib/errors.ts'
import { showInvitation } from '../../organisation/routes/invitations.ts'
import { refuseUnknown } from '../http/errors.ts'
import type { Api, Services } from '../services.ts'
import { showWelcome } from '../welcome.ts'
import { type BuiltFile, createBuiltFiles } from './built-files.ts'

/**
 * The content security policy: scripts and everything else come from this server only, no site may frame a
 * page, and no page may change its base address.
 */
const POLICY =
  "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** The addresses of the dashboard's pages. Its own router decides what each one shows. */
const PAGES = [
  '/sign-in',
  '/sign-in/organisations',
  '/sign-in/:token',
  '/workflows',
  '/workflows/*',
  '/sources',
  '/sources/*',
  '/shortcuts',
  '/shortcuts/*',
  '/records',
  '/records/*',
  '/segments',
  '/segments/*',
  '/usage',
  '/settings',
  '/settings/*',
]

const PUBLIC = { scope: 'public' as const }
const HIDDEN = { hide: true }

/** Serves the built dashboard: one HTML page for all its addresses, and the files that the page loads. */
export function dashboardRoutes(app: Api, services: Services): void {
  const { dashboardFolder: folder } = services
  // The page is read on each request: it is small, and a build may finish while the server runs.
  const page = async (request: FastifyRequest) => (wantsPage(request) ? readPage(folder) : null)

  for (const url of PAGES) {
    app.get(url, { config: PUBLIC, schema: HIDDEN }, async (request, reply) => {
      if (!wantsPage(request)) return refuseUnknown(request)
      const html = await readPage(folder)
      return html === null ? showWelcome(reply, services) : sendDashboard(reply, html)
    })
  }

  app.get('/', { config: PUBLIC, schema: HIDDEN }, async (request, reply) => {
    const html = await page(request)
    return html === null ? showWelcome(reply, services) : sendDashboard(reply, html)
  })

  app.get(
    '/invitations/:token',
    {
      config: { ...PUBLIC, metered: true },
      schema: { ...HIDDEN, params: z.strictObject({ token: z.string() }) },
    },
    async (request, reply) => {
      const html = await page(request)
      return html === null
        ? showInvitation(reply, services, request.params.token)
        : sendDashboard(reply, html)
    },
  )

  const assets = createBuiltFiles(join(folder, 'assets'))
  app.get('/assets/*', { config: PUBLIC, schema: HIDDEN }, async ({ params, headers }, reply) => {
    const name = (params as Record<string, string>)['*'] ?? ''
    const file = await assets.open(name, headers['accept-encoding'])
    if (file === undefined) throw notFound('File')
    return sendFile(reply, file, 'public, max-age=31536000, immutable')
  })

  const loose = createBuiltFiles(folder)
  app.get('/icon.svg', { config: PUBLIC, schema: HIDDEN }, async ({ headers }, reply) => {
    const file = await loose.open('icon.svg', headers['accept-encoding'])
    if (file === undefined) throw notFound('File')
    return sendFile(reply, file, 'public, max-age=3600')
  })
}

/**
 * Returns false if the client accepts only JSON: such a program gets an error it can read. Mail scanners
 * accept anything and get the page.
 */
function wantsPage({ headers: { accept = '*/*' } }: FastifyRequest): boolean {
  return accept.split(',').some((type) => !/^\s*application\/([\w.-]+\+)?json\s*(;|$)/i.test(type))
}

async function readPage(folder: string): Promise<string | null> {
  try {
    return await readFile(join(folder, 'index.html'), 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}

function sendDashboard(reply: FastifyReply, html: string): FastifyReply {
  return reply
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    .send(html)
}

function sendFile(reply: FastifyReply, { bytes, type, coding }: BuiltFile, caching: string): FastifyReply {
  if (coding !== null) void reply.header('content-encoding', coding)
  return reply
    .type(type)
    .headers({ 'cache-control': caching, vary: 'accept-encoding', 'content-security-policy': POLICY })
    .send(bytes)
}
