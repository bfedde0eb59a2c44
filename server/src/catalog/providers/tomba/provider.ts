import { z } from 'zod'
import { defineProvider } from '../../provider/provider.ts'

const Refused = z.object({ errors: z.object({ type: z.string() }) })

export const tomba = defineProvider({
  id: 'tomba',
  name: 'Tomba',
  evidence: 'public clients of /v1/email-finder, second check; its probe is inferred; read November 2026',
  baseUrl: 'https://api.tomba.io',
  auth: { kind: 'pair', key: 'X-Tomba-Key', secret: 'X-Tomba-Secret' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'miss' },
  // A refused key has status 400, as a wrong question has.
  classify: ({ body }) =>
    Refused.safeParse(body).data?.errors.type === 'authentication_failed' ? 'unconfigured' : null,
  probe: { path: '/v1/me' },
})
