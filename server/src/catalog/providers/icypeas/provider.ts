import { defineProvider } from '../../provider/provider.ts'

export const icypeas = defineProvider({
  id: 'icypeas',
  name: 'Icypeas',
  evidence:
    'api-doc.icypeas.com/certainties and quickstart/verify-email; the rest: the Icypeas tools of Sim; read 2026-11-20',
  baseUrl: 'https://app.icypeas.com',
  auth: { kind: 'header', name: 'Authorization' },
  limits: { perSecond: 10, concurrent: 20 },
})
