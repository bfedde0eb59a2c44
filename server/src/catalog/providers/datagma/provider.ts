import { defineProvider } from '../../provider/provider.ts'
import type { RefusalKind } from '../../provider/reply.ts'

/** The errors, which are numbers in the body. */
const CODES: Readonly<Record<string, RefusalKind>> = { 5: 'miss', 13: 'no_credits', 16: 'unconfigured' }

export const datagma = defineProvider({
  id: 'datagma',
  name: 'Datagma',
  evidence: 'the Datagma tools of Sim; read November 2026',
  baseUrl: 'https://gateway.datagma.net',
  auth: { kind: 'query', name: 'apiId' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 404: 'miss' },
  classify: ({ word }) => CODES[word('code')] ?? null,
  probe: { path: '/api/ingress/v1/mine' },
})
