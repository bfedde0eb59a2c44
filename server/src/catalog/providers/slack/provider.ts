import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'
import type { RefusalKind } from '../../provider/reply.ts'

const KINDS: Readonly<Record<string, RefusalKind>> = {
  account_inactive: 'unconfigured',
  invalid_auth: 'unconfigured',
  missing_scope: 'unconfigured',
  not_authed: 'unconfigured',
  token_expired: 'unconfigured',
  token_revoked: 'unconfigured',
  rate_limited: 'rate_limited',
  ratelimited: 'rate_limited',
}

export const slack = defineProvider({
  id: 'slack',
  name: 'Slack',
  evidence: 'api.slack.com/methods; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://slack.com/api',
  auth: { kind: 'bearer' },
  limits: { concurrent: 10 },
  // Errors are reported with 200 and ok: false.
  classify({ body }) {
    if (!isObject(body) || body['ok'] !== false) return null
    const { error } = body
    return (typeof error === 'string' ? KINDS[error] : undefined) ?? 'error'
  },
  probe: { method: 'POST', path: '/auth.test', json: {} },
  requiresOwnKey: true,
})
