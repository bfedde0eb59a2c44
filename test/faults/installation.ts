import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from '#server/api/app.ts'
import { faultCatalogue } from '#server/engine/testing/fault-catalogue.ts'
import { readConfig } from '#server/lib/config.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/secrets.ts'
import { createOrganisation } from '#server/org/organisations.ts'
import { OPERATOR } from '#server/store/audit.ts'
import { isUnavailable, openStore } from '#server/store/db.ts'
import { startEmbedded } from '#server/store/embedded.ts'
import { migrate } from '#server/store/migrate.ts'

export const SECRET = 'a secret for tests only'
const MANY = '1000000000'
const ROWS_PER_CALL = 1000

export type Books = {
  flights: number
  cells: number
  failed: number
  charges: number
  spent: number
  ledger: number
  credits: number
  held: number
  jobs: number
}

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/** A PostgreSQL of its own with one organisation, whose catalogue is that of the fault tests. */
export async function openInstallation(credits: number) {
  const folder = mkdtempSync(join(tmpdir(), 'loam-faults-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  const log = createLog('silent')
  const postgres = await startEmbedded({ dataDir, log: () => {} })
  await migrate(postgres.url, () => {})
  const store = openStore({ url: postgres.url, log })
  const config = readConfig({ LOAM_RATE_LIMIT_PER_MINUTE: MANY, LOAM_RATE_LIMIT_PER_DAY: MANY })
  const services = { config, store, log, sealer: createSealer(SECRET), sendMail: null }
  const api = await createApp({ ...services, catalogue: faultCatalogue, publicUrl: () => 'http://loam.test' })
  const { orgId, key } = await createOrganisation(store.system, OPERATOR, {
    name: 'Faults',
    adminEmail: 'admin@example.com',
    initialCredits: credits,
  })

  async function call(method: 'GET' | 'POST', path: string, body?: unknown) {
    const answer = await api.inject({
      method,
      url: `/api/v1${path}`,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`)
    return answer.json()
  }

  return {
    folder,
    key,
    call,
    databaseUrl: postgres.url,
    /** A sheet with the input `kill` and a chain; answers its path. */
    async makeSheet(chain: { action_id: string; inputs?: object }[]): Promise<string> {
      const { data } = await call('POST', '/workflows', { name: 'Faults' })
      const base = `/workflows/${data.workflow_id}/sheets/${data.workflow_id}`
      await call('POST', `${base}/inputs`, [{ name: 'kill', type: 'string' }])
      for (const step of chain) await call('POST', `${base}/actions/add`, step)
      return base
    },
    async addRows(base: string, count: number, row: object = {}): Promise<void> {
      for (let left = count; left > 0; left -= ROWS_PER_CALL) {
        const rows = Array.from({ length: Math.min(left, ROWS_PER_CALL) }, () => row)
        await call('POST', `${base}/rows`, { rows })
      }
    },
    /** What the database says; waits while it cannot say anything. */
    books: async (): Promise<Books> => {
      for (;;) {
        try {
          const [found] = await store.query<Books>({ text: BOOKS, values: [orgId] })
          if (found === undefined) throw new Error('the organisation is gone')
          return found
        } catch (cause) {
          if (!isUnavailable(cause)) throw cause
          await sleep(100)
        }
      }
    },
    killPostgres(): void {
      const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    async close(): Promise<void> {
      await api.close()
      await store.close()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const BOOKS = `
select (select count(*) from flights where org_id = $1) as flights,
  (select count(*) from cells where org_id = $1) as cells,
  (select count(*) from cells where org_id = $1 and status <> 'complete') as failed,
  (select count(*) from credit_entries where org_id = $1 and reason = 'cell') as charges,
  (select coalesce(sum(credits_millis), 0) from cells where org_id = $1)::bigint as spent,
  (select sum(amount_millis) from credit_entries where org_id = $1)::bigint as ledger,
  credits_millis as credits, held_millis as held,
  (select count(*) from graphile_worker._private_jobs) as jobs
from organisations where org_id = $1`

let broken = 0

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints what was checked; the program ends with 1 when anything did not hold. */
export function check(what: string, found: unknown, expected: unknown): void {
  const holds = found === expected
  if (!holds) broken += 1
  say(
    `${holds ? 'ok    ' : 'BROKEN'} ${what}: ${String(found)}${holds ? '' : `, expected ${String(expected)}`}`,
  )
  process.exitCode = broken === 0 ? 0 : 1
}
