import { defineProvider } from '../../provider/provider.ts'

export const snowflake = defineProvider({
  id: 'snowflake',
  name: 'Snowflake',
  baseUrl: '',
  baseUrlField: 'account_url',
  auth: { kind: 'bearer' },
  headers: { 'X-Snowflake-Authorization-Token-Type': 'PROGRAMMATIC_ACCESS_TOKEN' },
  limits: { concurrent: 10 },
  probe: { method: 'POST', path: '/api/v2/statements', json: { statement: 'select 1', timeout: 10 } },
  fields: ['warehouse', 'role', 'database', 'schema'],
  requiresOwnKey: true,
})
