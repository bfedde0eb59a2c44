import { isObject } from '../../../lib/json/object.ts'
import { trimEnd } from '../../../lib/plain-text.ts'
import { defineProvider } from '../../provider/provider.ts'
import type { RefusalKind } from '../../provider/reply.ts'

const KINDS: Readonly<Record<string, RefusalKind>> = {
  REQUEST_LIMIT_EXCEEDED: 'no_credits',
  SERVER_UNAVAILABLE: 'rate_limited',
  UNABLE_TO_LOCK_ROW: 'rate_limited',
}

export const salesforce = defineProvider({
  id: 'salesforce',
  name: 'Salesforce',
  evidence:
    'developer.salesforce.com (REST API v59.0, OAuth endpoints); an earlier review held it against public clients, November 2026',
  baseUrl: '',
  baseUrlField: 'instance_url',
  auth: {
    kind: 'oauth',
    grant: 'refresh_token',
    // Sandboxes are unknown at login.salesforce.com, so tokens are made at the instance.
    tokenUrl: ({ instance_url = 'https://login.salesforce.com' }) =>
      `${trimEnd(instance_url, '/')}/services/oauth2/token`,
  },
  limits: { concurrent: 20 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  classify: ({ status, body }) => (status < 400 ? null : (KINDS[readWord(body, 'errorCode')] ?? null)),
  explain(body) {
    // Several records with one external id are reported as a list of their addresses (HTTP 300).
    if (Array.isArray(body) && typeof body[0] === 'string') return `several records match: ${body.join(', ')}`
    const message = readWord(body, 'message')
    // The message of a refused query begins with the whole query and a mark below the place.
    const reason = message.replace(/^[\s\S]*ERROR at Row:\d+:Column:\d+\s*/, '')
    return reason === '' ? null : `${reason} (${readWord(body, 'errorCode')})`
  },
  probe: { path: '/services/data/v59.0/limits' },
  requiresOwnKey: true,
})

/** Returns a text of the first error. Errors are a list, and the first names the problem. */
function readWord(body: unknown, name: string): string {
  const first: unknown = Array.isArray(body) ? body[0] : undefined
  const word = isObject(first) ? first[name] : undefined
  return typeof word === 'string' ? word : ''
}
