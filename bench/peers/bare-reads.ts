// Serves the peer of P8: the same SQL on bare Fastify routes, in its own process. The arguments are the
// address of the database and whether admissions are batched. Prints its own address.
import Fastify from 'fastify'
import { Pool, type QueryConfig, type QueryResultRow } from 'pg'
import { READY } from '#server/lib/log-lines.ts'
import { hashToken } from '#server/lib/security/keys.ts'
import { createBatcher } from '#server/lib/timing/batcher.ts'
import { type Admission, admitAll, type Visitor } from '#server/organisation/store/admission.ts'

const [, , connectionString = '', batched = ''] = process.argv
const pool = new Pool({ connectionString, max: 20, options: '-c loam.org=*' })
const query = async <Row extends QueryResultRow>(statement: QueryConfig) =>
  (await pool.query<Row>(statement)).rows
const limits = { perMinute: 100_000_000, perDay: 100_000_000 }
const admitOne = createBatcher<Visitor, Admission>({
  run: (visitors) => admitAll({ query }, visitors, limits),
  maxItems: batched === 'batched' ? 500 : 1,
  maxInFlight: batched === 'batched' ? 2 : Number.POSITIVE_INFINITY,
})

const app = Fastify()

async function holderOf(authorization = '', address: string) {
  const { holder, granted } = await admitOne({
    hash: hashToken(authorization.slice('Bearer '.length)),
    address,
  })
  if (holder === null || !granted) throw new Error('not admitted')
  return holder
}

app.get('/api/v1/user/knowledge', async ({ headers, ip }) => {
  const holder = await holderOf(headers.authorization, ip)
  const [knowledge] = await query<{ content: string; updated_at: Date }>({
    name: 'knowledge',
    text: 'select content, updated_at from org_knowledge where org_id = $1',
    values: [holder.org_id],
  })
  return {
    status: 200,
    data: { content: knowledge?.content, exists: true, updated_at: knowledge?.updated_at },
  }
})

app.get('/api/v1/user/', async ({ headers, ip }) => {
  const holder = await holderOf(headers.authorization, ip)
  const members = await query<{ email: string }>({
    name: 'members',
    text: 'select member_id, email, first_name, last_name, role from members where org_id = $1',
    values: [holder.org_id],
  })
  const emails = members.map(({ email }) => email)
  return {
    status: 200,
    data: { ...members[0], org_id: holder.org_id, org_members: { count: emails.length, emails } },
  }
})

process.stdout.write(`${READY} ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
