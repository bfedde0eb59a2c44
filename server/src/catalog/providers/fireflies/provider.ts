import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'
import type { RefusalKind } from '../../provider/reply.ts'

/** The error codes: https://docs.fireflies.ai/miscellaneous/error-codes */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  auth_failed: 'unconfigured',
  account_cancelled: 'unconfigured',
  require_ai_credits: 'no_credits',
  paid_required: 'no_credits',
  too_many_requests: 'rate_limited',
}

export const fireflies = defineProvider({
  id: 'fireflies',
  name: 'Fireflies',
  evidence: 'docs.fireflies.ai/graphql-api; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.fireflies.ai',
  auth: { kind: 'bearer' },
  limits: { perMinute: 60 },
  // GraphQL reports errors with 200 and a list.
  classify({ status, body }) {
    const error = firstError(body)
    if (error === null || status >= 500) return null
    return KINDS[String(error['code'])] ?? 'ineligible'
  },
  explain(body) {
    const message = firstError(body)?.['message']
    return typeof message === 'string' ? message : null
  },
  probe: { method: 'POST', path: '/graphql', json: { query: '{ user { user_id } }' } },
  requiresOwnKey: true,
})

function firstError(body: unknown): Record<string, unknown> | null {
  const errors = isObject(body) ? body['errors'] : undefined
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  return isObject(first) ? first : null
}
