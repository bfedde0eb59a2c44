import { z } from 'zod'
import { defineProvider, type Provider } from '../../provider/provider.ts'
import { refusal } from '../../provider/reply.ts'
import { readAddress } from './address.ts'
import { runStatement } from './connection.ts'

const spec = defineProvider({
  id: 'postgres',
  name: 'PostgreSQL',
  evidence:
    'postgresql.org/docs/current/protocol.html, spoken by the driver pg; named as where it is documented, not checked as of November 2026',
  baseUrl: '',
  auth: { kind: 'bearer' },
  limits: { concurrent: 5 },
  probe: { path: '/', json: { text: 'select 1', limit: 1 } },
  requiresOwnKey: true,
})

/** One reading statement, in place of a request body. Values are texts; the server infers their types. */
const Statement = z.object({
  text: z.string(),
  values: z.array(z.string().nullable()).default([]),
  limit: z.int().positive(),
  maxBytes: z.int().positive().optional(),
})

/** A database of the organisation: the connection's secret is its address, `postgres://user:password@host:5432/name`. */
export const postgres: Provider = {
  ...spec,
  isPlaced: () => true,
  async request(context, key, { json }, schema) {
    const address = readAddress(key.fields['secret'])
    if ('message' in address) return { ok: false, refusal: refusal('unconfigured', address.message) }
    const reply = await runStatement(context, address, Statement.parse(json))
    return reply.ok ? { ok: true, body: schema.parse(reply.body) } : reply
  },
}
