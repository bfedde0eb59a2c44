import { defineProvider } from '../../provider/provider.ts'

export const icypeas = defineProvider({
  id: 'icypeas',
  name: 'Icypeas',
  baseUrl: 'https://app.icypeas.com',
  auth: { kind: 'header', name: 'Authorization' },
  limits: { perSecond: 10, concurrent: 20 },
})
