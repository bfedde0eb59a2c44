import { type RawBuilder, sql } from 'kysely'
import type { Cause } from '#contract/causes.ts'
import { describeFailure } from '#contract/failure-words.ts'
import type { Db } from '../../database/connection/db.ts'
import { KEYED_READ } from '../../database/connection/statement-names.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** The number of causes that are counted. Of more, those with the first keys are. */
const MAX_COUNTED = 1000
/** The number of cells of a cause of which errors are read. */
const LOOKED = 50
const MAX_RAW = 3
/** The length at which an error is cut. */
const MAX_ERROR = 500

const keyedRead = sql.raw(KEYED_READ)

type FoundCause = Pick<Cause, 'cause' | 'cells'>
type Sample = Pick<Cause, 'cause' | 'action_instance_id' | 'status'> & { errors: string[] }
export type CausesFound = { causes: Cause[]; cells: number; rows: number; truncated: boolean }

/**
 * Lists the causes of the failed cells of a sheet, as they stand, or of those that a run left failed. Only an index of
 * failed cells is read, from cause to cause, so that complete cells cost nothing.
 */
export async function listCauses(
  db: Db,
  sheet: SheetKey,
  { runId, limit }: { runId: string | undefined; limit: number },
): Promise<CausesFound> {
  const wanted = wantedCells(sheet, runId, await readPurgedBelow(db, sheet))
  const { rows: found } = await countCauses(sheet, wanted).execute(db)
  const counted = found.slice(0, MAX_COUNTED).filter(({ cells }) => cells > 0)
  const largest = counted.toSorted(
    (one, other) => other.cells - one.cells || (one.cause < other.cause ? -1 : 1),
  )
  const listed = largest.slice(0, limit)
  const samples = await readSamples(db, wanted, listed)
  const causes = listed.flatMap(({ cause, cells }): Cause[] => {
    const sample = samples.get(cause)
    if (sample === undefined) return []
    const { action_instance_id, status, errors } = sample
    const raw = [...new Set(errors)].slice(0, MAX_RAW)
    // A row has one cell of an action.
    return [
      {
        cause,
        action_instance_id,
        status,
        ...describeFailure(status, raw[0] ?? ''),
        raw,
        cells,
        rows: cells,
      },
    ]
  })
  return {
    causes,
    cells: counted.reduce((sum, { cells }) => sum + cells, 0),
    rows: counted.length > 1 ? await countRows(db, wanted) : (counted[0]?.cells ?? 0),
    truncated: counted.length > limit || found.length > MAX_COUNTED,
  }
}

const ofSheet = ({ org_id, sheet_id }: SheetKey): RawBuilder<unknown> =>
  sql`c.org_id = ${org_id} and c.sheet_id = ${sheet_id}`

/** Returns the condition on the failed cells `c` of a sheet, or of a run. Cells of deleted rows may be there for a while. */
export function wantedCells(
  sheet: SheetKey,
  runId: string | undefined,
  purgedBelow: number | null,
): RawBuilder<unknown> {
  const ofRun = runId === undefined ? sql`` : sql`and c.run_id = ${runId}::uuid`
  const living =
    purgedBelow === null
      ? sql``
      : sql`and exists (select from rows r where r.org_id = c.org_id and r.row_id = c.row_id and r.seq >= ${purgedBelow}::bigint)`
  return sql`${ofSheet(sheet)} ${ofRun} ${living}`
}

/** Returns the number of the sheet's first row while rows before it, which were deleted, are being removed. */
async function readPurgedBelow(db: Db, { org_id, sheet_id }: SheetKey): Promise<number | null> {
  const { rows } = await sql<{ below_seq: number }>`
    select below_seq from purges where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(db)
  return rows[0]?.below_seq ?? null
}

/** Counts the cells of each cause. The next cause is looked up by the key of the one before. */
export function countCauses(sheet: SheetKey, wanted: RawBuilder<unknown>): RawBuilder<FoundCause> {
  return sql<FoundCause>`${keyedRead}
    with recursive found as (
      select 1 as n, (select min(c.cause) from cells c where ${ofSheet(sheet)} and c.cause is not null) as cause
      union all
      select n + 1, (select min(c.cause) from cells c where ${ofSheet(sheet)} and c.cause > found.cause)
      from found where found.cause is not null and n <= ${sql.lit(MAX_COUNTED)}
    )
    select cause, (select count(*) from cells c where ${wanted} and c.cause = found.cause)::bigint as cells
    from found where cause is not null`
}

/** Counts the rows with at least one failed cell. */
async function countRows(db: Db, wanted: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ rows: number }>`${keyedRead}
    select count(distinct c.row_id)::bigint as rows from cells c
    where ${wanted} and c.cause is not null`.execute(db)
  return rows[0]?.rows ?? 0
}

/** Reads errors of some cells of each cause. */
async function readSamples(
  db: Db,
  wanted: RawBuilder<unknown>,
  causes: readonly FoundCause[],
): Promise<Map<string, Sample>> {
  const keys = causes.map(({ cause }) => cause)
  const { rows } = await sql<Sample>`${keyedRead}
    select listed.cause, min(sample.action) as action_instance_id, min(sample.status) as status,
      array_agg(left(coalesce(sample.error, ''), ${MAX_ERROR})) as errors
    from unnest(${keys}::text[]) as listed (cause), lateral (
      select c.action, c.status, c.error from cells c
      where ${wanted} and c.cause = listed.cause limit ${sql.lit(LOOKED)}
    ) sample group by listed.cause`.execute(db)
  return new Map(rows.map((sample) => [sample.cause, sample]))
}
