import { defineProvider } from '../../provider/provider.ts'

export const icypeas = defineProvider({
  id: 'icypeas',
  name: 'Icypeas',
  evidence: 'the Icypeas tools of Sim; read November 2026',
  baseUrl: 'https://app.icypeas.com',
  auth: { kind: 'header', name: 'Authorization' },
  limits: { perSecond: 10, concurrent: 20 },
})
