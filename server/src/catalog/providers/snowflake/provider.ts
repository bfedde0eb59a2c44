import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const snowflake = defineProvider({
  id: 'snowflake',
  name: 'Snowflake',
  evidence: 'public clients with programmatic access tokens; read November 2026',
  baseUrl: '',
  baseUrlField: 'account_url',
  auth: { kind: 'bearer' },
  headers: { 'X-Snowflake-Authorization-Token-Type': 'PROGRAMMATIC_ACCESS_TOKEN' },
  limits: { concurrent: 10 },
  // For a statement that takes longer than 45 s the reply is a handle by which to ask again.
  timeoutMs: 60_000,
  // 422 means a failed statement, 404 a result that is no longer stored.
  statuses: { 400: 'ineligible', 404: 'ineligible', 422: 'ineligible' },
  explain: (body) => (isObject(body) && typeof body['message'] === 'string' ? body['message'] : null),
  probe: { method: 'POST', path: '/api/v2/statements', json: { statement: 'select 1', timeout: 10 } },
  fields: ['warehouse', 'role', 'database', 'schema'],
  requiresOwnKey: true,
})
