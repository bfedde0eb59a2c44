import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent } from '#server/agent/agent.ts'
import { createApp } from '#server/api/app.ts'
import { DASHBOARD_FOLDER } from '#server/api/dashboard/built-files.ts'
import { isUnavailable } from '#server/database/connection/db.ts'
import { LOCKED_JOBS } from '#server/database/queue/job-locks.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { postCharges } from '#server/money/store/limits/posting.ts'
import { openOutside } from '#server/process/outside.ts'
import { faultCatalogue } from '#server/runs/engine/testing/fault-catalogue.ts'
import { startWorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { createSources } from '#server/sources/registry.ts'
import { addRows, type Call, makeSheet, type Step } from '#test/builders/sheets.ts'
import * as base from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'

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

/**
 * Opens an installation with one organisation, and an API in this program that uses the catalogue of the
 * fault tests.
 */
export async function openInstallation(credits: number) {
  const ground = await base.openInstallation()
  const { dataDir, store } = ground
  const log = createLog('silent')
  const config = readConfig({ ...base.UNLIMITED, LOAM_DATA_DIR: dataDir })
  const storage = openStorage(config)
  const services = { config, store, storage, log, sealer: createSealer(base.SECRET), sendMail: null }
  const outside = await openOutside({ config, log, store })
  const environment = createRunEnvironment(store, services.sealer, config.providerKeys)
  const api = await createApp({
    ...services,
    ...outside,
    agent: createAgent({ config, environment, ...outside }),
    catalogue: faultCatalogue,
    sources: createSources([]),
    publicUrl: () => 'http://loam.test',
    dashboardFolder: DASHBOARD_FOLDER,
  })
  const { orgId, key } = await ground.makeOrg('Faults', credits)

  const callWith =
    (bearer: string): Call =>
    async (method, path, body) => {
      const answer = await api.inject({
        method,
        url: `/api/v1${path}`,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      })
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`)
      return answer.json()
    }
  const call = callWith(key)

  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
    persist(() => store.query<Row>({ text, values }))

  /** Starts a process. Returns it with the names that its pools sign their jobs with. */
  async function identify<Process>(
    start: () => Promise<Process>,
  ): Promise<{ process: Process; ids: string[] }> {
    const text = 'select worker_id from workers'
    const before = new Set((await ask<{ worker_id: string }>(text)).map((row) => row.worker_id))
    const process = await start()
    let ids: string[] = []
    await until('the worker is heard of', async () => {
      const known = await ask<{ worker_id: string }>(text)
      ids = known.map((row) => row.worker_id).filter((id) => !before.has(id))
      return ids.length > 0
    })
    return { process, ids }
  }

  /** Counts the jobs that these pools have locked. */
  async function countHeld(ids: string[]): Promise<number> {
    const [found] = await ask<{ held: number }>(
      `select count(*) as held from (${LOCKED_JOBS}) jobs where locked_by = any($1::text[])`,
      [ids],
    )
    return found?.held ?? 0
  }

  return {
    ...ground,
    orgId,
    key,
    call,
    /** Sends a request with the given key. */
    callWith,
    storage,
    ask,
    /** Creates a sheet with the input `kill` and a chain. Returns its path. */
    makeSheet: (chain: Step[]) => makeSheet(call, ['kill'], chain),
    addRows: (sheet: string, count: number, row: object = {}) => addRows(call, sheet, count, () => row),
    books: async (): Promise<Books> => {
      const read = async () => {
        await persist(() => postCharges(store.system, orgId))
        const [found] = await ask<Books>(BOOKS, [orgId])
        if (found === undefined) throw new Error('the organisation is gone')
        return found
      }
      // Leases of credits are released when their worker has nothing to do, or is missed.
      const deadline = Date.now() + 20_000
      for (let books = await read(); ; books = await read()) {
        if (books.flights > 0 || books.held === 0 || Date.now() > deadline) return books
        await sleep(100)
      }
    },
    /** Starts a worker with the catalogue of the fault tests. */
    startFaultWorker: async (options: { concurrency: number; silenceMs: number }) =>
      ground.track(await startWorkerChild(ground.databaseUrl, options)),
    killPostgres: () => ground.signalPostgres('SIGKILL'),
    identify,
    countHeld,
    async close(): Promise<void> {
      await api.close()
      await outside.close()
      await ground.close()
    },
  }
}

const BOOKS = `
select (select count(*) from flights where org_id = $1) as flights,
  (select count(*) from cells where org_id = $1) as cells,
  (select count(*) from cells where org_id = $1 and status <> 'complete') as failed,
  (select count(*) from ledger_entries where org_id = $1 and reason = 'cell') as charges,
  (select coalesce(sum(credits_millis), 0) from cells where org_id = $1)::bigint as spent,
  (select coalesce(sum(amount_millis), 0) from ledger_entries where org_id = $1)::bigint as ledger,
  credits_millis as credits, held_millis as held,
  (select count(*) from graphile_worker.jobs where task_identifier in ('row', 'row_express'))
    + (select count(*) from graphile_groups.jobs) as jobs
from organisations where org_id = $1`

/**
 * Checks that every cell exists once, complete and paid once, that nothing is reserved and no work is left.
 */
export function checkBooks(books: Books, cells: number, price: number, startMillis: number): void {
  check('rows in flight', books.flights, 0)
  check('cells', books.cells, cells)
  check('cells that are not complete', books.failed, 0)
  check('charges in the ledger', books.charges, price === 0 ? 0 : cells)
  check('thousandths spent by cells', books.spent, cells * price)
  check('sum of the ledger = balance', books.ledger, books.credits)
  check('balance', books.credits, startMillis - cells * price)
  check('held', books.held, 0)
  check('jobs left', books.jobs, 0)
}

let checked = 0
let broken = 0

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints the result of a check. The program ends with 1 if any check fails. */
export function check(what: string, found: unknown, expected: unknown): void {
  const holds = found === expected
  checked += 1
  if (!holds) broken += 1
  say(
    `${holds ? 'ok    ' : 'BROKEN'} ${what}: ${String(found)}${holds ? '' : `, expected ${String(expected)}`}`,
  )
  process.exitCode = broken === 0 ? 0 : 1
}

/** Prints the last line of a fault program. */
export function sayVerdict(fault: string): void {
  say(`${fault}: ${broken === 0 ? `held, ${checked} checks` : `BROKEN, ${broken} of ${checked} checks`}`)
}

/** Retries while the database is away. The work must be repeatable. */
export async function persist<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause
      await sleep(100)
    }
  }
}
