import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { RunAfter } from '#contract/rows.ts'
import { FIRST_ROWS } from '#contract/runs.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError } from '../lib/errors.ts'
import type { Cap } from '../money/caps.ts'
import type { Actor } from '../organisation/store/audit.ts'
import { getDefinition } from '../sheets/store/definitions.ts'
import { isNearRowLimit, requireRoom } from '../sheets/store/row-quota.ts'
import { insertRows } from '../sheets/store/rows.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { launchRows } from './launch.ts'
import { lockArrivals } from './queue.ts'
import type { RunRequest, Trigger } from './run-request.ts'

/** D94: rows that are to run and cannot, since their sheet has no actions. */
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

/** Rows on their way into a sheet. */
export type Arrival = {
  sheet: SheetRecord
  /** In the stored form of rows, in their order: see sheets/rows/intake.ts. */
  data: readonly string[]
  /** Their ids, where somebody had to know them before; made here otherwise. */
  ids?: string[]
  actor: Actor
  /** What brought them. Those of the API are a run of `auto_run` where the caller asked for none. */
  trigger: Exclude<Trigger, 'auto_run' | 'schedule'>
  /** What was asked for. A sheet with `auto_run` runs every arrival, whatever was asked (D16). */
  run: 'none' | 'first_10' | 'all'
  /** Rows that arrived before by the same request: `first_10` counts them too. */
  earlier?: number
  /** How often they were sent on from sheet to sheet (D36). */
  hops?: number
  /** What the run may cost that they start. */
  cap?: Cap | undefined
  /** Who spends, where that is not the actor. */
  member?: string | null
  /** The frozen version to run on, instead of what the sheet is now. */
  pinned?: Pick<SheetRecord, 'revision' | 'continue_on_fail'>
}

/** What became of them. `runId` is null where nothing runs. */
export type Arrived = { rowIds: string[]; queued: number; runId: string | null }

/**
 * Every row that comes into a sheet comes through here: from Add Rows, imports, webhooks, sources, segments, other sheets,
 * shortcuts. Adds the rows and starts the run that D16 says, together or not at all: in the caller's transaction, or in one of
 * its own. Throws `Not Found` when the sheet was deleted meanwhile, and `ROW_LIMIT_REACHED` when they do not fit.
 */
export async function arriveRows(db: Db, arrival: Arrival): Promise<Arrived> {
  const { sheet, data } = arrival
  const request = await requestOf(db, arrival)
  const isNear = await isNearRowLimit(db, sheet.org_id, data.length)
  // One statement is a transaction of its own.
  if (request === null && !isNear) return add(db, arrival, null)
  return inTransaction(db, async (trx) => {
    if (isNear) await requireRoom(trx, sheet.org_id, data.length)
    if (request !== null) await lockArrivals(trx, [request])
    return add(trx, arrival, request)
  })
}

/** The same for many sheets at once, in the caller's transaction. Null in the place of those whose sheet was deleted meanwhile. */
export async function arriveOnSheets(trx: Db, arrivals: readonly Arrival[]): Promise<(Arrived | null)[]> {
  const planned: { n: number; arrival: Arrival; request: Unlaunched | null }[] = []
  for (const [n, arrival] of arrivals.entries()) {
    planned.push({ n, arrival, request: await requestOf(trx, arrival) })
  }
  await requireRoomForAll(trx, arrivals)
  const running = planned.flatMap(({ request }) => (request === null ? [] : [request]))
  if (running.length > 0) await lockArrivals(trx, running)
  // Row counters are locked by adding rows, so sheets have their turn in the order of ids.
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

/** How many rows run of those that arrive: the first of them (D16). */
export function countRunning(
  { auto_run }: Pick<SheetRecord, 'auto_run'>,
  run: Arrival['run'],
  { rows, earlier = 0, isPinned = false }: { rows: number; earlier?: number; isPinned?: boolean },
): number {
  if (isPinned || auto_run || run === 'all') return rows
  return run === 'first_10' ? Math.max(0, Math.min(rows, FIRST_ROWS - earlier)) : 0
}

type Unlaunched = Omit<RunRequest, 'rows'> & { count: number }

/** The run that an arrival starts; null when it starts none. */
async function requestOf(db: Db, arrival: Arrival): Promise<Unlaunched | null> {
  const { sheet, data, trigger, run, earlier = 0, hops = 0, pinned, cap, member = null } = arrival
  const count = countRunning(sheet, run, { rows: data.length, earlier, isPinned: pinned !== undefined })
  if (count === 0) return null
  const running = { ...sheet, ...pinned }
  const actions = (await getDefinition(db, running)).actions.map((action) => action.id)
  if (actions.length === 0) return null
  const unasked = trigger === 'api' && run === 'none'
  const request = {
    sheet: running,
    actions,
    trigger: unasked ? ('auto_run' as const) : trigger,
    hops,
    member,
    count,
  }
  return cap === undefined ? request : { ...request, cap }
}

async function add(
  db: Db,
  { sheet, data, ids, actor }: Arrival,
  request: Unlaunched | null,
): Promise<Arrived> {
  const rowIds = await insertRows(db, sheet, data, ids)
  if (request === null) return { rowIds, queued: 0, runId: null }
  const { count, ...run } = request
  const { runId, rowsQueued } = await launchRows(db, actor, {
    ...run,
    rows: { kind: 'ids', ids: rowIds.slice(0, count) },
  })
  return { rowIds, queued: rowsQueued, runId }
}
