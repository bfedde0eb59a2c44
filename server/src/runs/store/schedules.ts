import { sql } from 'kysely'
import type { OnlyRows } from '#contract/runs.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

export type Schedule = SheetKey & {
  cron: string
  timezone: string
  next_run_at: Date
  only_rows: OnlyRows | null
  /** The cap of the run of each tick. */
  max_credits_millis: number | null
  /** The view whose rows each tick runs. */
  view_id: string | null
}

/** Returns the time of the database, which schedules go by: the clocks of callers may differ. */
export async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db)
  const [time] = rows
  if (time === undefined) throw new Error('the database did not say what time it is')
  return time.now
}

/** Saves the schedule of a sheet. A sheet has one schedule: a new one replaces it. */
export async function putSchedule(db: Db, schedule: Schedule): Promise<void> {
  const { cron, timezone, next_run_at, only_rows, max_credits_millis, view_id } = schedule
  await db
    .insertInto('schedules')
    .values(schedule)
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'sheet_id'])
        .doUpdateSet({ cron, timezone, next_run_at, only_rows, max_credits_millis, view_id }),
    )
    .execute()
}

/** Deletes the schedule of a sheet. Returns whether there was one. */
export async function deleteSchedule(db: Db, { org_id, sheet_id }: SheetKey): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('schedules')
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function findSchedule(db: Db, { org_id, sheet_id }: SheetKey): Promise<Schedule | undefined> {
  return db
    .selectFrom('schedules')
    .select([
      'org_id',
      'sheet_id',
      'cron',
      'timezone',
      'next_run_at',
      'only_rows',
      'max_credits_millis',
      'view_id',
    ])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .executeTakeFirst()
}

export type ListedSchedule = Omit<Schedule, 'org_id'> & { workflow_id: string; name: string }

/** Lists the schedules of an organisation's sheets that are not deleted, the next to run first. */
export async function listSchedules(db: Db, orgId: string): Promise<ListedSchedule[]> {
  return db
    .selectFrom('schedules')
    .innerJoin('sheets', (join) =>
      join
        .onRef('sheets.org_id', '=', 'schedules.org_id')
        .onRef('sheets.sheet_id', '=', 'schedules.sheet_id'),
    )
    .select(['schedules.sheet_id', 'workflow_id', 'name', 'cron', 'timezone', 'next_run_at', 'only_rows'])
    .select(['max_credits_millis', 'view_id'])
    .where('schedules.org_id', '=', orgId)
    .where('sheets.deleted_at', 'is', null)
    .orderBy('next_run_at')
    .orderBy('schedules.sheet_id')
    .execute()
}

/** Lists the schedules that are due, the longest waiting first. Organisations take turns. */
export async function listDueSchedules(db: Db, limit: number): Promise<SheetKey[]> {
  const { rows } = await sql<SheetKey>`select org_id, sheet_id from schedules
    where next_run_at <= now()
    order by row_number() over (partition by org_id order by next_run_at), next_run_at limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows
}

/** Locks a schedule that is still due until the transaction ends. Returns undefined if another process has taken it. */
export async function lockDueSchedule(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<(Schedule & { now: Date }) | undefined> {
  const { rows } = await sql<Schedule & { now: Date }>`
    select org_id, sheet_id, cron, timezone, next_run_at, only_rows, max_credits_millis, view_id, now() as now from schedules
    where org_id = ${org_id} and sheet_id = ${sheet_id} and next_run_at <= now()
    for update skip locked`.execute(db)
  return rows[0]
}

/**
 * Moves a schedule on by compare and set. Returns false if it is not due any more, because another process took the
 * tick.
 */
export async function advanceSchedule(db: Db, { org_id, sheet_id }: SheetKey, next: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('schedules')
    .set({ next_run_at: next })
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('next_run_at', '<=', sql<Date>`now()`)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
