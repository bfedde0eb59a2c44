import type { FastifyReply } from 'fastify'
import { escapeHtml, sendPage } from './http/page.ts'
import type { Services } from './services.ts'

/**
 * Shows a new operator a page if no dashboard is built: what Loam is, whether it is ready, and what to do
 * next.
 */
export async function showWelcome(
  reply: FastifyReply,
  { store, publicUrl, log }: Pick<Services, 'store' | 'publicUrl' | 'log'>,
): Promise<FastifyReply> {
  const isReady = await store.query({ text: 'select 1' }).then(
    () => true,
    (cause: unknown) => {
      log.warn({ err: cause }, 'the database does not answer')
      return false
    },
  )
  if (!isReady) reply.code(503).header('retry-after', 1)
  return sendPage(reply, 'Welcome', welcome(publicUrl(), isReady))
}

function welcome(url: string, isReady: boolean): string {
  const state = isReady
    ? '<p><b>Ready.</b> The server and its database answer.</p>'
    : '<p><b>Not ready.</b> The database does not answer; the log of the server says why. Run <code>npx loam doctor</code>.</p>'
  return `<p>Workflow data enrichment: bring a table, chain actions on it, run thousands of rows. Every cell is stored, billed
exactly once, and can be inspected.</p>${state}
<p><b>The dashboard is not built.</b> <code>npm start</code> builds it when its sources have changed, and prints the reason if it
cannot; <code>node scripts/setup.mjs</code> tries again without a restart.</p>
<p>Two commands to begin with, in the folder where you ran <code>npm start</code>:</p>
<pre>curl ${escapeHtml(url)}/api/v1/user/ -H "Authorization: Bearer $(cat "\${LOAM_DATA_DIR:-data}/admin-key")"
npx loam actions</pre>
<p><a href="/docs">API reference</a> · <a href="/api/v1/openapi.json">OpenAPI description</a> · <a href="/readyz">readiness</a> ·
the first steps and guides are in <code>README.md</code> and <code>docs/</code>.</p>`
}
