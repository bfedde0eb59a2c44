import { z } from 'zod'
import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

/** A refusal. `error_code` is where `error_details` is not there yet, and goes on 2027-02-16. */
const Fault = z.object({
  error_code: z.string().nullish(),
  error_details: z.object({ code: z.string().default(''), message: z.string().optional() }).nullish(),
})

function isInaccessible(body: unknown): boolean {
  const { error_code, error_details } = Fault.safeParse(body).data ?? {}
  return (error_details?.code || error_code) === 'API_INACCESSIBLE'
}

export const apollo = defineProvider({
  id: 'apollo',
  name: 'Apollo',
  evidence:
    'docs.apollo.io (people/match, people/bulk_match, mixed_people/api_search, organizations/enrich and bulk_enrich); refusals: second check; public clients, read 2026-11-20',
  baseUrl: 'https://api.apollo.io',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perMinute: 200, concurrent: 10 },
  // 422 means an exhausted plan, or a question with too few details.
  statuses: { 404: 'miss' },
  classify: ({ status, body, word }) => {
    // The reply to the probe has status 200 even for a bad key.
    if (isObject(body) && body['is_logged_in'] === false) return 'unconfigured'
    const { code = '', message = '' } = Fault.safeParse(body).data?.error_details ?? {}
    if (status === 403 && isInaccessible(body)) return 'unconfigured'
    if (status !== 422) return null
    return /credit|plan|limit/i.test(`${word('error')} ${code} ${message}`) ? 'no_credits' : 'ineligible'
  },
  explain(body) {
    if (isInaccessible(body)) return 'the key has no access to this endpoint; add it to the key in Apollo'
    return Fault.safeParse(body).data?.error_details?.message ?? null
  },
  probe: { path: '/api/v1/auth/health' },
})
