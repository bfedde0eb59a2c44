import { z } from 'zod'
import { defineProvider } from '../../provider/provider.ts'

const Faults = z.object({ errors: z.array(z.object({ id: z.string() })) })
/** The errors of the question itself. */
const UNFIT = new Set(['invalid_domain', 'wrong_params'])

export const hunter = defineProvider({
  id: 'hunter',
  name: 'Hunter',
  evidence:
    'hunter.io/api-documentation/v2, second check (webmail, 202 of the finder, companies/find is free); read November 2026',
  baseUrl: 'https://api.hunter.io',
  auth: { kind: 'header', name: 'X-API-KEY' },
  limits: { perSecond: 10, perMinute: 300, concurrent: 20 },
  // 403 means too many requests, 429 the monthly quota, 451 a person who asked to be removed.
  statuses: { 403: 'rate_limited', 404: 'miss', 429: 'no_credits', 451: 'miss' },
  classify: ({ status, body }) =>
    status === 400 && Faults.safeParse(body).data?.errors.some(({ id }) => UNFIT.has(id)) === true
      ? 'ineligible'
      : null,
  probe: { path: '/v2/account' },
})
