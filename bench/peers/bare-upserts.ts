import pg from 'pg'
import { newId } from '#server/lib/ids.ts'
import { type Peer, RESULT, timed } from './peer.ts'

const CONNECTIONS = 2
const CELLS_PER_STATEMENT = 500

/**
 * Opens a peer that writes the same cells into a table of the same shape and does nothing else: the upper
 * limit of PostgreSQL.
 */
export async function openBareUpserts(databaseUrl: string): Promise<Peer> {
  const clients = Array.from(
    { length: CONNECTIONS },
    () => new pg.Client({ connectionString: databaseUrl, options: '-c plan_cache_mode=force_generic_plan' }),
  )
  for (const client of clients) await client.connect()
  const [first] = clients
  const [org, sheet, run] = [newId(), newId(), newId()]

  async function upsert(client: pg.Client, items: object[]): Promise<void> {
    await client.query({
      name: 'bare',
      text: `insert into bare (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts,
          credits_millis, cached, started_at)
        select $2, $3, i.r, i.a, 'complete', i.out, $4, 1, 1, 0, false, now()
        from jsonb_to_recordset($1::jsonb) as i (r uuid, a text, out jsonb)
        on conflict (org_id, row_id, action) do update set outputs = excluded.outputs`,
      values: [JSON.stringify(items), org, sheet, run],
    })
  }

  return {
    name: `bare batched upserts (${CONNECTIONS} connections, ${CELLS_PER_STATEMENT} cells a statement)`,
    async run({ rows, actions }) {
      await first?.query('create table bare (like cells including all)')
      const rowsPerStatement = CELLS_PER_STATEMENT / actions
      let left = rows
      const write = async (client: pg.Client) => {
        while (left > 0) {
          const count = Math.min(left, rowsPerStatement)
          left -= count
          const items = Array.from({ length: count }, newId).flatMap((r) =>
            Array.from({ length: actions }, (_, n) => ({ r, a: `split_full_name_${n + 1}`, out: RESULT })),
          )
          await upsert(client, items)
        }
      }
      const seconds = await timed(() => Promise.all(clients.map(write)))
      await first?.query('drop table bare')
      return seconds
    },
    async close() {
      for (const client of clients) await client.end()
    },
  }
}
