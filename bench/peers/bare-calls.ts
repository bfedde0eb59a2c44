import pg from 'pg'
import { Pool } from 'undici'
import { newId } from '#server/lib/ids.ts'
import { createBatcher } from '#server/lib/timing/batcher.ts'
import { timed } from './peer.ts'

const CELLS_PER_STATEMENT = 500
const STATEMENTS_AT_ONCE = 2

/** The outside call of one cell. */
export type BareCall = { path: string; method: 'GET' | 'POST'; body?: string }

/**
 * Opens a peer that makes the same calls by undici alone and stores the results in a table of the same shape:
 * the upper limit of the machine.
 */
export async function openBareCalls(databaseUrl: string, outsideUrl: string, connections: number) {
  const outside = new Pool(outsideUrl, { connections })
  const options = '-c plan_cache_mode=force_generic_plan'
  const database = new pg.Pool({ connectionString: databaseUrl, max: STATEMENTS_AT_ONCE, options })
  const [org, sheet, run] = [newId(), newId(), newId()]
  const store = createBatcher<{ r: string; out: unknown }, true>({
    maxItems: CELLS_PER_STATEMENT,
    maxInFlight: STATEMENTS_AT_ONCE,
    run: async (cells) => {
      await database.query({
        name: 'bare-calls',
        text: `insert into bare_calls (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts,
            credits_millis, cached, started_at)
          select $2, $3, i.r, 'call_1', 'complete', i.out, $4, 1, 1, 0, false, now()
          from jsonb_to_recordset($1::jsonb) as i (r uuid, out jsonb)
          on conflict (org_id, row_id, action) do update set outputs = excluded.outputs`,
        values: [JSON.stringify(cells), org, sheet, run],
      })
      return cells.map(() => true)
    },
  })

  async function callOnce({ path, method, body }: BareCall): Promise<void> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const reply = await outside.request({ path, method, headers, body: body ?? null })
    await store({ r: newId(), out: await reply.body.json() })
  }

  return {
    /** Runs the calls. Returns the seconds from the first call to the last stored result. */
    async run(cells: number, call: BareCall): Promise<number> {
      await database.query('create table bare_calls (like cells including all)')
      let left = cells
      const work = async () => {
        while (left > 0) {
          left -= 1
          await callOnce(call)
        }
      }
      const seconds = await timed(() => Promise.all(Array.from({ length: connections }, work)))
      await database.query('drop table bare_calls')
      return seconds
    },
    async close() {
      await outside.close()
      await database.end()
    },
  }
}
