import { defineProvider } from '../../provider/provider.ts'

export const fireflies = defineProvider({
  id: 'fireflies',
  name: 'Fireflies',
  baseUrl: 'https://api.fireflies.ai',
  auth: { kind: 'bearer' },
  limits: { perMinute: 60 },
  probe: { method: 'POST', path: '/graphql', json: { query: '{ user { user_id } }' } },
  requiresOwnKey: true,
})
