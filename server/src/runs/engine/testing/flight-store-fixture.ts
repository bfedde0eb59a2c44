import { createLog } from '#server/lib/log.ts'
import { grantCredits } from '#server/money/store/credits.ts'
import { postCharges } from '#server/money/store/limits/posting.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { startRun, stopRuns } from '#server/runs/queue.ts'
import type { RowChoice } from '#server/runs/row-choice.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { findSheet, type SheetRecord } from '#server/sheets/store/sheets.ts'
import { makeApp, type TestApp, type TestOrg } from '#test/plumbing/harness.ts'
import { createFlightStore, type FlightStore } from '../flights/flight-store.ts'
import type { Flight, Position, RowJob, SettledCell, Settlement } from '../flights/flight.ts'
import type { Settled } from '../flights/settler.ts'
import { Reservations } from '../leases/reservations.ts'
import { faultCatalogue, PRICE } from './fault-catalogue.ts'

export type Step = { action_id: string; inputs: Record<string, unknown> }

/** The accounts of an organisation by its balance and its ledger, after everything is posted. */
export type Accounts = {
  credits: number
  ledger: number
  charges: number
  /** The credits that workers have reserved and not spent, by the balance and by their leases. */
  held: number
  leases: number
}

/** A record of the table of flights, with the action that it is at. */
export type StoredFlight = {
  row_id: string
  run_id: string
  action: string
  ticket: number
  attempt: number
}

export type StoredCell = { row_id: string; action: string; status: string; credits: number; run_id: string }

/** A sheet whose rows are walked by hand, through a flight store. */
export type FlightSheet = {
  app: TestApp
  org: TestOrg
  base: string
  record(): Promise<SheetRecord>
  addRows(count: number, row?: object): Promise<string[]>
  run(rows?: RowChoice, actions?: string[]): Promise<{ runId: string; rowsQueued: number }>
  stop(): Promise<number>
  /** Lists the jobs of the rows in flight, as graphile-worker would hand them out. */
  jobs(): Promise<RowJob[]>
  flights(): Promise<StoredFlight[]>
  cells(): Promise<StoredCell[]>
  /** Lists the rows that were stopped and did not run again. */
  stopped(): Promise<string[]>
  accounts(): Promise<Accounts>
  grant(millis: number): Promise<void>
}

export const makeFlightApp = (): Promise<TestApp> => makeApp({ services: { catalogue: faultCatalogue } })

/** A flight store that settles single rows as well. */
export type TestFlightStore = FlightStore & {
  settle(flight: Flight, settlement: Settlement, express?: boolean): Promise<Settled | null>
}

export function makeFlightStore(app: TestApp, lane = 1): TestFlightStore {
  const store = createFlightStore(app.store, lane)
  return {
    ...store,
    settle: async (flight, settlement, express) =>
      (await store.settleAll([{ flight, settlement }], express))[0] ?? null,
  }
}

export const makeReservations = (app: TestApp): Reservations =>
  new Reservations(app.store, createLog('silent'), 0)

/** Creates an organisation of its own with `millis` thousandths, and a sheet with a chain of these templates. */
export async function makeFlightSheet(
  app: TestApp,
  chain: (string | Step)[],
  millis: number,
): Promise<FlightSheet> {
  const org = await app.makeOrg()
  const { orgId } = org
  const db = app.store.system
  const grant = async (amountMillis: number): Promise<void> => {
    await db.transaction().execute((trx) => grantCredits(trx, orgId, { amountMillis, reason: 'test' }))
  }
  await grant(millis - 1_000_000)
  const sheetId = await makeChain(org, chain)
  const base = `/workflows/${sheetId}/sheets/${sheetId}`
  const record = async () => {
    const found = await findSheet(db, orgId, sheetId)
    if (found === undefined) throw new Error('the sheet is gone')
    return found
  }
  return {
    app,
    org,
    base,
    record,
    grant,
    ...readFlights(app, orgId),
    async addRows(count, row = {}) {
      const rows = Array.from({ length: count }, () => row)
      return (await org.call('POST', `${base}/rows`, { rows })).body.data.row_ids
    },
    async run(rows = { kind: 'all' }, actions) {
      const sheet = await record()
      const all = (await getDefinition(db, sheet)).actions.map((action) => action.id)
      return db
        .transaction()
        .execute((trx) => startRun(trx, OPERATOR, { sheet, actions: actions ?? all, rows, trigger: 'api' }))
    },
    async stop() {
      const sheet = await record()
      return db.transaction().execute((trx) => stopRuns(trx, OPERATOR, sheet))
    },
  }
}

/** Makes a sheet with a chain of these templates. Returns its id. */
async function makeChain(org: TestOrg, chain: (string | Step)[]): Promise<string> {
  const { body } = await org.call('POST', '/workflows', { name: 'Flights' })
  const sheetId: string = body.data.workflow_id
  const base = `/workflows/${sheetId}/sheets/${sheetId}`
  await org.call('POST', `${base}/inputs`, [{ name: 'kill', type: 'string' }])
  for (const step of chain) {
    const action = typeof step === 'string' ? { action_id: step } : step
    const added = await org.call('POST', `${base}/actions/add`, action)
    if (added.status !== 201) throw new Error(JSON.stringify(added.body))
  }
  return sheetId
}

/** Reads what the database has of an organisation with one sheet. */
function readFlights(
  app: TestApp,
  orgId: string,
): Pick<FlightSheet, 'jobs' | 'flights' | 'cells' | 'stopped' | 'accounts'> {
  const query = <Row extends object>(text: string) => app.store.query<Row>({ text, values: [orgId] })
  return {
    jobs: () =>
      query<RowJob>(
        'select org_id as o, row_id as r, ticket as t from flights where org_id = $1 order by row_id',
      ),
    flights: () =>
      query<StoredFlight>(`select f.*, run.actions[1 + f.skipped + (select count(*) from cells c
          where c.org_id = f.org_id and c.row_id = f.row_id and c.run_id = f.run_id)] as action
        from flights f join runs run on run.org_id = f.org_id and run.run_id = f.run_id
        where f.org_id = $1 order by f.row_id`),
    cells: () =>
      query<StoredCell>(`select row_id, action, status, credits_millis as credits, run_id from cells
        where org_id = $1 order by row_id, action`),
    async stopped() {
      const rows = await query<{ row_id: string }>(
        'select row_id from stopped_rows where org_id = $1 order by row_id',
      )
      return rows.map(({ row_id }) => row_id)
    },
    async accounts() {
      await postCharges(app.store.system, orgId)
      const [found] = await query<Accounts>(`select credits_millis as credits, held_millis as held,
          (select coalesce(sum(granted_millis), 0) from purse_shares where purse_id = $1)::bigint as leases,
          (select sum(amount_millis) from ledger_entries where org_id = $1)::bigint as ledger,
          (select count(*) from ledger_entries where org_id = $1 and reason = 'cell') as charges
        from organisations where org_id = $1`)
      if (found === undefined) throw new Error('the organisation is gone')
      return found
    },
  }
}

export function must<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('expected a value')
  return value
}

export const complete = (
  { position: { action } }: Flight,
  next: string | null,
  creditsMillis = 0,
  more: Partial<SettledCell> = {},
): Settlement => ({
  cells: [
    {
      action,
      status: 'complete',
      outputs: { value: 'x' },
      creditsMillis,
      cached: false,
      startedAt: Date.now(),
      ...more,
    },
  ],
  next,
})

/** Claims a row and reserves the price of its cell, as a worker does before it calls a provider. */
export async function claimAndReserve(
  store: FlightStore,
  reservations: Reservations,
  job: RowJob,
): Promise<Flight> {
  const flight = must(await store.claim(job))
  const answer = await reservations.reserve(flight.facts, null, { more: PRICE, total: PRICE }, job.r)
  if (!('reservation' in answer)) throw new Error(`expected a reservation, got ${JSON.stringify(answer)}`)
  return withPosition(flight, { heldMillis: PRICE, reservation: answer.reservation })
}

/** Returns the flight as some worker believes it to be. */
export const withPosition = (flight: Flight, changes: Partial<Position>): Flight => ({
  ...flight,
  position: { ...flight.position, ...changes },
})
