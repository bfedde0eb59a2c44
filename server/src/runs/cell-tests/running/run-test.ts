import type { ActionInstance } from '../../../catalog/chain/definition.ts'
import { createRowScope } from '../../../catalog/chain/row-scope.ts'
import type { Catalogue } from '../../../catalog/registry.ts'
import { inTransaction, isUnavailable, type Store } from '../../../database/connection/db.ts'
import { reasonOf } from '../../../lib/errors.ts'
import { JobPostponed } from '../../../lib/job.ts'
import { toStorableJson } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { createPriceBook, type PriceBook } from '../../../money/prices.ts'
import { recordAudit } from '../../../organisation/store/audit.ts'
import { findDefinition } from '../../../sheets/store/definitions.ts'
import { type CellResult, errorCell } from '../../engine/cells/cell-result.ts'
import { runCell, tokensOf, withLargeOutputs } from '../../engine/cells/cell.ts'
import type { Engine, RowWalk } from '../../engine/engine-context.ts'
import { addUpUsage } from '../../engine/flights/cell-usage.ts'
import { chargesOf } from '../../engine/flights/charges.ts'
import type { Flight, Parking, SettledCell } from '../../engine/flights/flight.ts'
import { detachReservation } from '../../engine/flights/position.ts'
import { leasesLost } from '../../engine/leases/lease-requests.ts'
import type { Reservation } from '../../engine/leases/lease.ts'
import { knownOutputsIn } from '../../engine/run-setting.ts'
import { LEASE_LOST } from '../../engine/sql/settle.ts'
import { findUnkeptTest, giveUpKeeping, keepAnswer, type TestFindings } from '../../store/cell-tests.ts'
import { resolveAction, type ResolvedAction } from '../resolved-inputs.ts'
import { forTests } from './engine-for-tests.ts'
import { CLAIM_TEST, PARK_TEST, SETTLE_TEST } from './sql/cell-tests.ts'
import { type ClaimedTest, readInstance, TestJob, toFlight, withInstance } from './test-flight.ts'

/** The number of workers that may die with a test before it is given up. */
const MAX_STALLED = 3
/** The wait from which a test no longer counts as one under way. */
const PARKED_MS = 1000
const LANES = 16

type Parts = { store: Store; catalogue: Catalogue; engine: Engine }

/** A claimed test: its flight, and the action as it is tested. */
type Test = { flight: Flight; instance: ActionInstance }

/**
 * Returns the job that runs tests (H5). A test is a row of one cell that is written to its own record instead of the
 * sheet: it is claimed, run by `runCell` and settled with its charge in one statement, or parked for later. It is
 * charged once, however often its worker dies.
 */
export function createCellTests(parts: Parts): (payload: unknown) => Promise<void> {
  const tests = new CellTests(parts)
  return async (payload) => {
    try {
      await tests.run(TestJob.parse(payload))
    } catch (cause) {
      // The test stays claimed by this attempt. It is taken again in a second.
      throw isUnavailable(cause) ? new JobPostponed(reasonOf(cause), { cause }) : cause
    }
  }
}

const NOT_SHOWN: ResolvedAction = { resolved: {}, met: null }
/** The result of a test, and what people see of its inputs. */
type Called = { result: CellResult; shown: ResolvedAction }

class CellTests {
  readonly #store: Store
  readonly #engine: Engine
  readonly #testEngine: Engine
  readonly #prices: PriceBook

  constructor({ store, catalogue, engine }: Parts) {
    this.#store = store
    this.#engine = engine
    this.#testEngine = forTests(engine)
    this.#prices = createPriceBook(catalogue)
  }

  async run(job: TestJob): Promise<void> {
    const engine = this.#engine
    if (engine.ending.hasBegun()) throw new JobPostponed('the process is ending')
    const values = [job.org, job.test, job.ticket]
    const [claimed] = await this.#store.query<ClaimedTest>({ ...CLAIM_TEST, values })
    // Its answer is stored, or another job has it: a worker may have died between the answer and its cell.
    if (claimed === undefined) return keepIfAsked(this.#store, job)
    const instance = readInstance(claimed.instance)
    const flight = toFlight(job, claimed, instance)
    const runFlight = (whole: Flight) => this.#runAndEnd({ instance, flight: whole })
    try {
      if (flight.row.unreadBytes === 0) await runFlight(flight)
      else await engine.withInputs(flight, runFlight)
      await keepIfAsked(this.#store, job)
    } finally {
      const left = detachReservation(flight)
      if (left !== null) engine.reservations.spend(left, 0)
    }
  }

  async #runAndEnd(test: Test): Promise<void> {
    const { flight, instance } = test
    if (flight.row.unreadBytes > 0) throw new JobPostponed('the process is ending')
    const startedAt = Date.now()
    const { result, shown } = await this.#call(test)
    if (result.kind === 'not yet') throw new Error('a test of one cell has no cells before it')
    if (result.kind === 'later') return park(this.#store, flight, result.parking)
    const cell = { ...result.settlement, action: instance.id, template: instance.action_id, startedAt }
    return settle({ store: this.#store, engine: this.#engine }, test, cell, shown)
  }

  async #call({ flight, instance }: Test): Promise<Called> {
    const walk = await this.#prepare(flight, instance)
    if (walk === null) return { result: errorCell('this row was deleted', false), shown: NOT_SHOWN }
    const template = walk.catalogue.get(instance.action_id)
    if (template === undefined)
      return { result: await runCell(this.#testEngine, walk, instance.id, null), shown: NOT_SHOWN }
    const run = async (): Promise<Called> => {
      const shown = resolveAction(template, instance, walk.scope.lookup)
      if (flight.position.stalledClaims > MAX_STALLED) {
        const words = `this test crashed its worker ${MAX_STALLED} times and will not be retried`
        return { result: errorCell(words, false), shown }
      }
      const caching = flight.facts.cache_enabled ? { end: NEVER, mayWait: true } : null
      return { result: await runCell(this.#testEngine, walk, instance.id, caching), shown }
    }
    const unread = walk.scope.unreadAmong(tokensOf(instance))
    return unread.length === 0 ? run() : withLargeOutputs(this.#engine, walk, unread, run)
  }

  /** Returns the walk of a test; null if its row or its sheet was deleted. */
  async #prepare(flight: Flight, instance: ActionInstance): Promise<RowWalk | null> {
    const { facts, row } = flight
    const { data } = row
    const { system } = this.#store
    const saved = data === null ? undefined : await findDefinition(system, facts)
    if (saved === undefined || data === null) return null
    const definition = withInstance(saved, instance)
    const [env, catalogue] = await Promise.all([
      this.#engine.environment.envOf(facts),
      this.#prices.catalogueAt(system, facts.price_version),
    ])
    const scope = createRowScope(definition, { ...row, data }, knownOutputsIn(definition, catalogue), env)
    return {
      flight,
      definition,
      catalogue,
      scope,
      env,
      express: true,
      endPriority: undefined,
      together: 1,
      peeked: false,
      missing: null,
      hasCalled: false,
      lookups: null,
    }
  }
}

const NEVER = new Promise<number>(() => undefined)

async function park(store: Store, { facts, fence }: Flight, parking: Parking): Promise<void> {
  const { names, ...statement } = PARK_TEST
  const values: Record<string, unknown> = {
    ...fenceOf(facts, fence),
    status: parking.ms > PARKED_MS ? 'parked' : 'queued',
    retries: parking.retries,
    state: parking.state === undefined || parking.state === null ? null : toStorableJson(parking.state),
    ms: parking.ms,
  }
  await store.query({ ...statement, values: names.map((name) => values[name]) })
}

const fenceOf = ({ org_id, run_id }: Flight['facts'], { ticket, attempt }: Flight['fence']) => ({
  org: org_id,
  test: run_id,
  ticket,
  attempt,
})

/** Writes the answer with its charge, once. Of a worker that has lost the test nothing is written. */
async function settle(
  { store, engine }: Pick<Parts, 'store' | 'engine'>,
  { flight }: Test,
  cell: SettledCell,
  { resolved, met }: ResolvedAction,
): Promise<void> {
  const { facts, fence, row } = flight
  const batch = [{ flight, settlement: { cells: [cell], next: null } }]
  const { outputs, cache } = cell
  const findings: TestFindings = {
    met,
    resolved,
    error: cell.error ?? null,
    cached: cell.cached,
    learns: cell.learns ?? false,
    started_at: new Date(cell.startedAt).toISOString(),
    duration_ms: Math.max(0, Date.now() - cell.startedAt),
    providers: cell.provenance ?? [],
  }
  const values: Record<string, unknown> = {
    ...fenceOf(facts, fence),
    ...chargesOf(batch).columns(1, { test_id: facts.run_id }),
    rows: [row.id],
    usage: toStorableJson(addUpUsage(batch)),
    lane: Math.floor(Math.random() * LANES),
    status: cell.status,
    result: toStorableJson(findings),
    outputs:
      outputs === undefined ? null : outputs instanceof StoredJson ? outputs.text : toStorableJson(outputs),
    millis: cell.creditsMillis,
    action: cell.action,
    epoch: cache?.epoch ?? 0,
    key: cache?.keep === true ? cache.key : null,
  }
  const { names, ...statement } = SETTLE_TEST
  const reservation = detachReservation(flight)
  try {
    const settled = await store.query({ ...statement, values: names.map((name) => values[name]) })
    endReservation(engine, reservation, settled.length > 0 ? cell.creditsMillis : 0)
    if (settled.length > 0) engine.countProviders(facts.org_id, [cell])
  } catch (cause) {
    if (reservation !== null) engine.reservations.doubt(reservation)
    throw isLeaseLost(cause) ? leasesLost() : cause
  }
}

function endReservation({ reservations }: Engine, reservation: Reservation | null, millis: number): void {
  if (reservation !== null) reservations.spend(reservation, millis)
}

const isLeaseLost = (cause: unknown): boolean =>
  typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === LEASE_LOST

/** Writes a complete answer into its cell, if the caller asked for it before the test. Nothing happens the second time. */
async function keepIfAsked(store: Store, { org, test }: TestJob): Promise<void> {
  const unkept = await findUnkeptTest(store.system, org, test)
  if (unkept === undefined) return
  const { org_id, sheet_id, test_id, row_id, action, member: email, key_id: keyId } = unkept
  await inTransaction(store.org(org_id), async (trx) => {
    if (!(await keepAnswer(trx, unkept, test_id))) return giveUpKeeping(trx, unkept)
    const details = { row_id, action_instance_id: action, test_id }
    await recordAudit(trx, org_id, { email, keyId }, { action: 'cell.kept', target: sheet_id, details })
  })
}
