import { sql } from 'kysely'
import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { RunAfter } from '#contract/rows.ts'
import { FIRST_ROWS } from '#contract/runs.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { sharedRowsLock } from '../database/connection/locks.ts'
import { KEYED } from '../database/connection/statement-names.ts'
import { AppError } from '../lib/errors.ts'
import type { Cap } from '../money/caps.ts'
import type { Actor } from '../organisation/store/audit.ts'
import { getDefinition } from '../sheets/store/definitions.ts'
import { isNearRowLimit, requireRoom } from '../sheets/store/row-quota.ts'
import { insertRows } from '../sheets/store/rows.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { lockWorkflow } from '../sheets/store/workflows.ts'
import { keyedPlans } from './launch-pieces.ts'
import { launchRows } from './launch.ts'
import { BY_API, type RunRequest, type Trigger } from './run-request.ts'

const keyed = sql.raw(KEYED)

/** Returns the warning of D94: rows were to run, but the sheet has no actions. */
export function warnOfNoActions(
  field: 'run_after_add' | 'run_after_import',
  run: z.output<typeof RunAfter>,
  { actions }: Pick<Definition, 'actions'>,
): Warning[] {
  if (run === 'none' || actions.length > 0) return []
  return [
    { field, code: 'no_actions', message: 'the sheet has no actions yet, so no row runs; add one first' },
  ]
}

/** Rows that are about to be added to a sheet. */
export type Arrival = {
  sheet: SheetRecord
  /** The rows in their stored form and in their order: see sheets/rows/intake.ts. */
  data: readonly string[]
  /** The ids of the rows, if the caller had to know them before. Otherwise they are made here. */
  ids?: string[]
  actor: Actor
  /**
   * The trigger that brought the rows. Rows added by the API start a run of `auto_run` if the caller asked for none.
   */
  trigger: Exclude<Trigger, 'auto_run' | 'schedule'>
  /** The run that was asked for. A sheet with `auto_run` runs every arrival, whatever was asked (D16). */
  run: 'none' | 'first_10' | 'all'
  /** The number of rows that the same request added before. `first_10` counts them too. */
  earlier?: number
  /** The number of times that the rows have been sent on from sheet to sheet (D36). */
  hops?: number
  /** The cap of the run that the rows start. */
  cap?: Cap | undefined
  /** The member whose budget pays, if that is not the actor. */
  member?: string | null
  /** The frozen version to run on, instead of the current version of the sheet. */
  pinned?: Pick<SheetRecord, 'revision' | 'continue_on_fail'>
}

/** The result of an arrival. `runId` is null if nothing runs. */
export type Arrived = { rowIds: string[]; queued: number; runId: string | null }

/**
 * Adds rows to a sheet and starts the run that D16 prescribes. Every row that enters a sheet comes through here: from
 * Add Rows, imports, webhooks, sources, segments, other sheets and shortcuts. Both happen or neither: in the caller's
 * transaction, or in a transaction of its own. Throws `Not Found` if the sheet has been deleted since, and
 * `ROW_LIMIT_REACHED` if the rows do not fit.
 */
export async function arriveRows(db: Db, arrival: Arrival): Promise<Arrived> {
  const { sheet, data } = arrival
  const request = await planRun(db, arrival)
  const isNear = await isNearRowLimit(db, sheet.org_id, data.length)
  // A single statement is a transaction of its own.
  if (request === null && !isNear) return add(db, arrival, null)
  return inTransaction(db, async (trx) => {
    if (isNear) await requireRoom(trx, sheet.org_id, data.length)
    if (request !== null) await lockArrivals(trx, [request])
    return add(trx, arrival, request)
  })
}

/**
 * Does the same for many sheets at once, in the caller's transaction. Returns null in the place of each sheet that has
 * been deleted since.
 */
export async function arriveOnSheets(trx: Db, arrivals: readonly Arrival[]): Promise<(Arrived | null)[]> {
  const planned: { n: number; arrival: Arrival; request: PlannedRun | null }[] = []
  for (const [n, arrival] of arrivals.entries()) {
    planned.push({ n, arrival, request: await planRun(trx, arrival) })
  }
  await requireRoomForAll(trx, arrivals)
  const running = planned.flatMap(({ request }) => (request === null ? [] : [request]))
  if (running.length > 0) await lockArrivals(trx, running)
  // Adding rows locks the row counter of their sheet, so the sheets are taken in the order of their ids.
  const inOrder = planned.toSorted((a, b) => (a.arrival.sheet.sheet_id < b.arrival.sheet.sheet_id ? -1 : 1))
  const arrived: (Arrived | null)[] = arrivals.map(() => null)
  for (const { n, arrival, request } of inOrder) {
    arrived[n] = await add(trx, arrival, request).catch((cause: unknown) => {
      if (cause instanceof AppError && cause.code === 'Not Found') return null
      throw cause
    })
  }
  return arrived
}

async function requireRoomForAll(trx: Db, arrivals: readonly Arrival[]): Promise<void> {
  const byOrg = Map.groupBy(arrivals, ({ sheet }) => sheet.org_id)
  for (const [orgId, ofOrg] of [...byOrg].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const count = ofOrg.reduce((sum, { data }) => sum + data.length, 0)
    if (await isNearRowLimit(trx, orgId, count)) await requireRoom(trx, orgId, count)
  }
}

/** Returns how many of the arriving rows run. It is always the first of them that run (D16). */
export function countRunning(
  { auto_run }: Pick<SheetRecord, 'auto_run'>,
  run: Arrival['run'],
  { rows, earlier = 0, isPinned = false }: { rows: number; earlier?: number; isPinned?: boolean },
): number {
  if (isPinned || auto_run || run === 'all') return rows
  return run === 'first_10' ? Math.max(0, Math.min(rows, FIRST_ROWS - earlier)) : 0
}

type PlannedRun = Omit<RunRequest, 'rows'> & { count: number }

/** Returns the run that an arrival starts, or null if it starts none. */
async function planRun(db: Db, arrival: Arrival): Promise<PlannedRun | null> {
  const { sheet, data, trigger, run, earlier = 0, hops = 0, pinned, cap, member = null } = arrival
  const count = countRunning(sheet, run, { rows: data.length, earlier, isPinned: pinned !== undefined })
  if (count === 0) return null
  const running = { ...sheet, ...pinned }
  const actions = (await getDefinition(db, running)).actions.map((action) => action.id)
  if (actions.length === 0) return null
  const isUnasked = trigger === 'api' && run === 'none'
  const request = {
    sheet: running,
    actions,
    trigger: isUnasked ? ('auto_run' as const) : trigger,
    hops,
    member,
    count,
  }
  return cap === undefined ? request : { ...request, cap }
}

async function add(
  db: Db,
  { sheet, data, ids, actor }: Arrival,
  request: PlannedRun | null,
): Promise<Arrived> {
  const rowIds = await insertRows(db, sheet, data, { ids, by: actor.email })
  if (request === null) return { rowIds, queued: 0, runId: null }
  const { count, ...run } = request
  const { runId, rowsQueued } = await launchRows(db, actor, {
    ...run,
    rows: { kind: 'ids', ids: rowIds.slice(0, count) },
  })
  return { rowIds, queued: rowsQueued, runId }
}

/**
 * Takes the locks under which arriving rows are enqueued, for all their sheets. Take them before the rows are added.
 */
async function lockArrivals(db: Db, requests: readonly Lockable[]): Promise<void> {
  await lockWorkflows(db, requests)
  const ids = [...new Set(requests.map(({ sheet }) => sheet.sheet_id))].toSorted()
  await sql`${keyed} select ${keyedPlans}, ${sharedRowsLock(sql`id`)} from unnest(${ids}::text[]) as t (id)`.execute(
    db,
  )
}

type Lockable = Pick<RunRequest, 'sheet' | 'trigger'>

/**
 * Locks the workflows whose `last_run_at` these runs set. The start of a run writes it last, but its lock comes before
 * the locks of rows.
 */
async function lockWorkflows(db: Db, requests: readonly Lockable[]): Promise<void> {
  const counting = requests.filter(({ trigger }) => BY_API.has(trigger))
  const orgOf = new Map(counting.map(({ sheet }) => [sheet.workflow_id, sheet.org_id]))
  for (const [id, orgId] of [...orgOf].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    await lockWorkflow(db, orgId, id)
}
