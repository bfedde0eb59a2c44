// Serves the peer of the webhook bench: a bare Fastify route that inserts what it receives into its own
// table, in its own process. The arguments are the address of the database and whether inserts are batched.
// Prints its own address.
import Fastify from 'fastify'
import { Pool } from 'pg'
import { READY } from '#server/lib/log-lines.ts'
import { createBatcher } from '#server/lib/timing/batcher.ts'
import { INSERT, recordsOf } from './bare-insert.ts'

const [, , connectionString = '', batched = ''] = process.argv
const pool = new Pool({ connectionString, max: 20 })
const insert = createBatcher<Record<string, string>, true>({
  async run(rows) {
    await pool.query({ name: 'insert', text: INSERT, values: [recordsOf(rows)] })
    return rows.map(() => true as const)
  },
  maxItems: batched === 'batched' ? 500 : 1,
  maxInFlight: batched === 'batched' ? 2 : 20,
})

const app = Fastify()
app.post<{ Body: Record<string, string> }>('/hooks/bare', async ({ body }) => {
  await insert(body)
  return { status: 200 }
})

process.stdout.write(`${READY} ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
