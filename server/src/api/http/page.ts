import type { FastifyReply } from 'fastify'

/**
 * The content security policy: only the content of the page itself, no script, no frame around it, no form to
 * another host.
 */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

/** Sends a small HTML page for people. `body` is HTML, `title` is text. */
export function sendPage(reply: FastifyReply, title: string, body: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
    .send(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · Loam</title>
<style>:root{color-scheme:light dark}
body{font:16px/1.5 system-ui;max-width:38rem;margin:12vh auto;padding:0 1rem}
pre{overflow-x:auto;padding:.75rem 1rem;border-radius:6px;background:#8881;font-size:14px}a{color:#6366f1}
button{font:inherit;padding:.5rem 1rem;border:0;border-radius:6px;background:#4f46e5;color:#fff;cursor:pointer}</style>
<h1>${escapeHtml(title)}</h1>${body}</html>`)
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
}
