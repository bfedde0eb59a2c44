import { sql } from 'kysely'
import type { Warning } from '#contract/envelope.ts'
import type { CellStatus } from '#contract/rows.ts'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { exclusiveRowsLock, takeNamedLock } from '../../database/connection/locks.ts'
import { addJobsStatement } from '../../database/queue/jobs.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

// A test runs one action on one row and stores its answer beside the sheet (H5). A worker runs it as a job; `ticket` names the
// job and `attempt` the worker, as in flights.

/** The name of the job that runs a test. */
export const TEST_JOB = 'cell_test'
/** The most tests at once in a process. They have places of their own, so that runs never wait for them. */
export const TESTS_AT_ONCE = 64

/** Returns the statement that adds the jobs of the tests which a part of a larger statement returns. */
export const testJobs = (tests: string, turn: { priority: string; runAt?: string }): string =>
  addJobsStatement('long', {
    task: TEST_JOB,
    payload: `json_build_object('org', org_id, 'test', test_id, 'ticket', ticket)`,
    from: tests,
    ...turn,
  })

export type NewTest = SheetKey & {
  test_id: string
  row_id: string
  revision: number
  /** The action as it is tested, as JSON. */
  instance: string
  is_saved: boolean
  keep: boolean
  member: string
  key_id: string | null
  price_version: number
  cap_purse_id: string | null
  warnings: readonly Warning[]
}

/**
 * Enqueues a test. Returns false if the organisation already has `atOnce` of them under way. An organisation with few tests
 * has its turn before one with many. Call it in a transaction.
 */
export async function admitTest(trx: Db, test: NewTest, atOnce: number): Promise<boolean> {
  await takeNamedLock(trx, `tests of ${test.org_id}`)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from cell_tests where org_id = ${test.org_id} and status in ('queued', 'running')`.execute(
    trx,
  )
  const underWay = rows[0]?.count ?? 0
  if (underWay >= atOnce) return false
  await sql`
    with made as materialized (
      insert into cell_tests (org_id, test_id, sheet_id, row_id, revision, instance, is_saved, keep, member, key_id,
        price_version, cap_purse_id, warnings)
      values (${test.org_id}, ${test.test_id}, ${test.sheet_id}, ${test.row_id}, ${test.revision}, ${test.instance}::jsonb,
        ${test.is_saved}, ${test.keep}, ${test.member}, ${test.key_id}, ${test.price_version}, ${test.cap_purse_id},
        ${JSON.stringify(test.warnings)}::jsonb)
      returning org_id, test_id, ticket
    )
    ${sql.raw(testJobs('made', { priority: String(underWay + 1) }))}`.execute(trx)
  return true
}

/** The findings of a finished test, beside its outputs. */
export type TestFindings = {
  met: boolean | null
  resolved: Record<string, unknown>
  error: string | null
  cached: boolean
  /** Set if outputs of the action are known only from what it returned. */
  learns: boolean
  started_at: string
  duration_ms: number
  providers: unknown[]
}

export type TestRecord = {
  test_id: string
  row_id: string
  /** The action as it was tested, as JSON. */
  instance: string
  status: CellStatus | 'parked'
  warnings: Warning[]
  /** The findings, or null until the test has ended. The JSON text keeps numbers with all their digits. */
  result: string | null
  outputs: string | null
  credits_millis: number
  kept_at: Date | null
}

/** Returns a test of a sheet; undefined after a day. */
export async function findTest(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  testId: string,
): Promise<TestRecord | undefined> {
  const { rows } = await sql<TestRecord>`
    select test_id, row_id, instance::text as instance, status, warnings,
      case when ${HAS_ENDED} then result::text end as result, outputs::text as outputs,
      credits_millis, kept_at
    from cell_tests
    where org_id = ${org_id} and sheet_id = ${sheet_id} and test_id = ${testId} and created_at > now() - ${KEPT_FOR}`.execute(
    db,
  )
  return rows[0]
}

/** A test has ended when it has an answer, and this is kept if the caller asked for it. */
const HAS_ENDED = sql`(result is not null and not (keep and status = 'complete' and kept_at is null))`

/** Returns whether a test has ended, without reading its answer. */
export async function hasTestEnded(db: Db, orgId: string, testId: string): Promise<boolean> {
  const { rows } = await sql`
    select from cell_tests where org_id = ${orgId} and test_id = ${testId} and ${HAS_ENDED}`.execute(db)
  return rows.length > 0
}

/** Returns whether a run has the row now. */
export async function isRowInFlight(db: Db, orgId: string, rowId: string): Promise<boolean> {
  const { rows } = await sql`select from flights where org_id = ${orgId} and row_id = ${rowId}`.execute(db)
  return rows.length > 0
}

/**
 * Writes the answer of a complete test into the cell of its row, at no charge. Returns false if the row was deleted or is in
 * flight. The cell names the test as its run. Call it in a transaction.
 */
export async function keepAnswer(
  trx: Db,
  { org_id, sheet_id, revision }: SheetKey & { revision: number },
  testId: string,
): Promise<boolean> {
  await sql`select ${exclusiveRowsLock(sheet_id)}`.execute(trx)
  const { rows } = await sql`
    with test as materialized (
      select t.* from cell_tests t
      where t.org_id = ${org_id} and t.sheet_id = ${sheet_id} and t.test_id = ${testId} and t.status = 'complete'
        and exists (select from rows r where r.org_id = t.org_id and r.row_id = t.row_id and r.seq >= (
          select first_seq from sheet_counters c where c.org_id = t.org_id and c.sheet_id = t.sheet_id))
        and not exists (select from flights f where f.org_id = t.org_id and f.row_id = t.row_id)
      for no key update
    ), written as (
      insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis, cached,
        provenance, learns, started_at, completed_at)
      select org_id, sheet_id, row_id, instance->>'id', status, outputs, test_id, ${revision}, retries + 1, 0,
        (result->>'cached')::boolean, nullif(result->'providers', '[]'), (result->>'learns')::boolean, (result->>'started_at')::timestamptz,
        (result->>'started_at')::timestamptz + (result->>'duration_ms')::float8 * interval '1 ms'
      from test
      on conflict (org_id, row_id, action) do update set status = excluded.status, outputs = excluded.outputs, error = null,
        run_id = excluded.run_id, revision = excluded.revision, attempts = excluded.attempts,
        credits_millis = excluded.credits_millis, cached = excluded.cached, provenance = excluded.provenance,
        learns = excluded.learns, billing = null, kept = null, started_at = excluded.started_at,
        completed_at = excluded.completed_at
    ), noted as (
      update cell_tests t set kept_at = coalesce(t.kept_at, now()) from test where t.org_id = test.org_id and t.test_id = test.test_id
    )
    select ${announcing(sheet_id)} from test`.execute(trx)
  return rows.length > 0
}

export type UnkeptTest = SheetKey & {
  test_id: string
  row_id: string
  action: string
  revision: number
  member: string
  key_id: string | null
}

/** Returns a complete test whose answer is still to be kept, as its caller asked. */
export async function findUnkeptTest(db: Db, orgId: string, testId: string): Promise<UnkeptTest | undefined> {
  const { rows } = await sql<UnkeptTest>`
    select org_id, sheet_id, test_id, row_id, instance->>'id' as action, revision, member, key_id from cell_tests
    where org_id = ${orgId} and test_id = ${testId} and result is not null and not ${HAS_ENDED}`.execute(db)
  return rows[0]
}

/** Notes that an answer cannot be kept any more. */
export async function giveUpKeeping(trx: Db, { org_id, test_id }: UnkeptTest): Promise<void> {
  await sql`update cell_tests set keep = false where org_id = ${org_id} and test_id = ${test_id}`.execute(trx)
}

/** The time for which the answer of a test can be read. */
const KEPT_FOR = sql.raw(`interval '24 hours'`)
const CHUNK = 10_000

/** Deletes tests that are older than a day. */
export async function forgetTests(db: Db): Promise<void> {
  for (let removed = CHUNK; removed === CHUNK;) {
    const { numAffectedRows = 0n } = await sql`
      delete from cell_tests where (org_id, test_id) in (
        select org_id, test_id from cell_tests where created_at <= now() - ${KEPT_FOR} limit ${sql.lit(CHUNK)})`.execute(
      db,
    )
    removed = Number(numAffectedRows)
  }
}
