import {
  CELL_COLUMNS,
  FORMER_AS_CELL,
  FORMER_AS_CURRENT,
  forgetStanding,
  keptBecause,
} from '../../store/former-cells.ts'
import { listRows } from './groups.ts'
import { nameParameters, type NamedParameters } from './named-parameters.ts'
import { USED } from './usage.ts'

/** Marks of a cell, added up: its result is from the cache; outputs of its action are known only from its runs. */
export const CACHED = 1
export const LEARNS = 2
/** The factor of the place of the cell's billing in the list of all, from 1. Their product is added to the marks. */
export const BILLING = 4

/** The ending of a cell without a result of its own: the row goes on after it, or ends there. */
export const GOES_ON = 1
export const ENDS_ROW = 2

/** The contents of a batch of results. The statement leaves out the parts that the batch does not need. */
export type BatchKind = {
  /** Set if some cell has a value that a cell completed at the first attempt does not have: `x` is not null. */
  extras: boolean
  /** Set if some cell has a place in the cache, which is among its extras. */
  keyed: boolean
  /** Says whether none, some or all flights are finished. */
  landing: 'none' | 'some' | 'all'
  /** Set for one flight alone, in which cells of an earlier run, or of this one, may be in the place of its results. */
  careful: boolean
  /** Set if some cell ends without a result of its own and gets its former result back (D84). */
  keeps: boolean
  /** Set if some cell is charged. */
  paid: boolean
  /** Set if all cells cost the same, and the price is given once. */
  onePrice: boolean
  /** Set if status, marks and billing are the same for all cells, and given once. */
  uniform: boolean
  /** Set if all flights are of one group: of one run, and with the same ticket and attempt. */
  alike: boolean
}

/**
 * Writes results: cells, cache entries, charges, tallies, and the end of finished flights. The parameters are columns:
 * of groups of flights (orgs, sheets, runs, revisions, tickets, attempts), of flights (rows; groups, by their places,
 * if there are several; through, if some are finished), of their cells (flights, by their places, actions, startedAt,
 * outputs; statuses and marks, once if all have the same; prices of paid ones, once if all cost the same; endings and
 * extras, of which few have any); and what they add to the tallies of their runs and to usage. A flight in the middle
 * of its chain is only locked. It is changed if the cell left something in it.
 *
 * The fence: the flight is still this worker's, and the run has no result for the cells yet. A batch in which one
 * flight has lost the fence writes nothing, and returns those that have not: they are sent again. Most batches assume
 * that there are no cells: an existing cell fails the batch, and its flights are sent again one by one, carefully.
 * Flights are locked in the order given. Charges need the shares they are paid of: if one was ended, nothing is written
 * at all.
 *
 * If all flights are finished, they are removed by their fences instead of being locked first. A flight that is not
 * found, or a missing share, then fails the batch (`NOT_WHOLE`), and it is sent again in the other form. Subqueries
 * instead of joins, and `is not distinct from` instead of `=` for the run, make the primary key the way to a flight and
 * to a cell, also before statistics exist. Cells are many: what is the same for all is computed once, and `valid` is
 * materialized only if several parts read it.
 */
export const settleStatement = (kind: BatchKind): NamedParameters => nameParameters(settleText(kind))

function settleText(kind: BatchKind): string {
  const { extras, keyed, landing, careful, keeps, paid, onePrice, uniform, alike } = kind
  const when = (holds: boolean, text: string) => (holds ? text : '')
  const ofCell = (column: string) =>
    alike ? `(select (${column})[1])` : `(${column})[(@groups::int[])[c.f]]`
  return `
with mine as materialized (
  ${landing === 'all' ? removed(alike, careful) : `${locked(alike)} ${when(careful, `where ${UNSETTLED}`)}`}
)${when(paid, SHARES)}
, whole as materialized (
  select ${landing === 'all' ? `${ALL_REMOVED} ${when(paid, `and ${ALL_SHARES}`)}` : `${ALL_LOCKED} ${when(paid, `and ${HAS_SHARES}`)}`} as ok
), valid as (
  select ${ofCell('@orgs::uuid[]')} as o, ${ofCell('@sheets::uuid[]')} as s, ${ofCell('@runs::uuid[]')} as run,
    ${ofCell('@revisions::int[]')} as rev, (@rows::uuid[])[c.f] as r, c.act, c.at, ${uniform ? SAME : EACH}, nullif(c.out, 'null') as out,
    ${priceOf(kind)} as cr ${when(keeps, ', c.ends_at')} ${when(extras, ', c.x')} ${when(keyed, CACHE_KEY)} ${when(extras && landing === 'some', `, (@through::boolean[])[c.f] as ends`)}
  from rows from (
    unnest(@flights::int[], @actions::text[], @startedAt::bigint[] ${when(!uniform, ', @statuses::text[], @marks::int[]')} ${when(paid && !onePrice, ', @prices::bigint[]')} ${when(keeps, ', @endings::int[]')}),
    jsonb_array_elements(@outputs::jsonb) ${when(extras, ', jsonb_array_elements(@extras::jsonb)')}
  ) as c (f, act, at ${when(!uniform, ', st, marks')} ${when(paid && !onePrice, ', cr')} ${when(keeps, ', ends_at')}, out ${when(extras, ', x')})
  where ${WHOLE}
)
${when(extras && landing !== 'all', cleared(landing))}
${when(landing === 'some', landed(alike))}
${when(keeps, kept(careful))}
, written as (
  insert into cells as c (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, started_at,
    cached, learns, billing, ${extras ? 'error, attempts, credits_millis, provenance' : 'attempts, credits_millis'})
  select o, s, r, act, st, out, run, rev, to_timestamp(at::float8 / 1000),
    cached, learns, billing, ${extras ? EXTRA_COLUMNS : '1, cr'}
  from valid ${when(keeps, 'where ends_at = 0 or (r, act) not in (select row_id, action from standing where is_own)')}
  ${when(careful, REWRITTEN)}
)
${when(keyed, REMEMBERED)}
${when(paid, CHARGED)}
${TALLIED}
${USED}
select ${paid ? HAS_SHARES : 'true'} as shared, m.k, m.ns, run.state as run_state
from (select k, case when not ${WHOLE} then json_agg(n) end as ns from mine group by k) m
join runs run on run.org_id = (@orgs::uuid[])[m.k] and run.run_id = (@runs::uuid[])[m.k]`
}

export const WHOLE = '(select ok from whole)'
const priceOf = ({ paid, onePrice }: BatchKind): string => {
  if (!paid) return '0'
  return onePrice ? '(select (@prices::bigint[])[1])' : 'c.cr'
}

/** Returns the columns that are added up in marks. */
const marked = (marks: string, once: (value: string) => string) =>
  `${once(`${marks} & ${CACHED} > 0`)} as cached, ${once(`${marks} & ${LEARNS} > 0`)} as learns,
    ${once(`case when ${marks} >= ${BILLING} then @billings::jsonb -> (${marks} / ${BILLING} - 1) end`)} as billing`
const SAME = `(select (@statuses::text[])[1]) as st, ${marked('(@marks::int[])[1]', (value) => `(select ${value})`)}`
const EACH = `c.st, ${marked('c.marks', (value) => value)}`

export const OF_FLIGHTS = {
  o: '@orgs::uuid[]',
  run: '@runs::uuid[]',
  t: '@tickets::int[]',
  a: '@attempts::int[]',
}
export const FENCED = `f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a`

const locked = (alike: boolean) => `
  select i.k, i.n
  from ${listRows(alike, OF_FLIGHTS)}
  cross join lateral (select from flights f where ${FENCED} for no key update) held`

const removed = (alike: boolean, careful: boolean) => `
  delete from flights f
  using ${listRows(alike, OF_FLIGHTS)}
  where ${FENCED} ${careful ? `and ${UNSETTLED}` : ''}
  returning i.k, i.n`

const ALL_LOCKED = '(select count(*) from mine) = cardinality(@rows::uuid[])'
const HAS_SHARES = '(select count(*) from share) = cardinality(@sharePurses::uuid[])'

/**
 * The error code of PostgreSQL for a batch that is written whole or not at all, and of which a part is missing: a
 * division by zero.
 */
export const NOT_WHOLE = '22012'
export const ALL_REMOVED = `1 / (${ALL_LOCKED})::int = 1`
export const ALL_SHARES = `1 / (${HAS_SHARES})::int = 1`

const UNSETTLED = `0 = (select count(*) from cells c where c.org_id = i.o and c.row_id = i.r
    and c.run_id is not distinct from i.run and c.action = any(@actions::text[]))`

const CACHE_KEY = `
    , decode(c.x->>'ck', 'hex') as ck, (c.x->>'ep')::int as ep`

const EXTRA_COLUMNS = `x->>'err', coalesce((x->>'tries')::int, 1), cr, x->'pv'`

const cleared = (landing: BatchKind['landing']) => `
, cleared as (
  update flights f set retries = 0, state = null
  from valid i where ${landing === 'some' ? 'not i.ends and' : ''} i.x ? 'cl' and f.org_id = i.o and f.row_id = i.r
)`

const landed = (alike: boolean) => `
, landed as (
  delete from flights f using ${listRows(alike, { o: '@orgs::uuid[]' })}
  where (@through::boolean[])[i.n] and ${WHOLE} and f.org_id = i.o and f.row_id = i.r
)`

/**
 * Restores the former results of cells that end without a result of their own, and of cells that their row no longer
 * comes to.
 */
const kept = (careful: boolean) => `
, standing as materialized (
  select k.*, v.st as because, k.action = v.act as is_own
  from valid v, lateral (
    select * from former_cells k where k.org_id = v.o and k.row_id = v.r and k.by_run = v.run
      and case when k.action = v.act then k.status = 'complete' else v.ends_at = ${ENDS_ROW} and (
        select array_position(actions, k.action) > array_position(actions, v.act)
        from runs where org_id = v.o and run_id = v.run) end
    offset 0
  ) k
  where v.ends_at > 0 and (select exists (select from former_cells
    where org_id = any(@orgs::uuid[]) and by_run = any(@runs::uuid[])))
), standing_again as (
  insert into cells as c (${CELL_COLUMNS}, kept)
  select ${FORMER_AS_CURRENT}, ${keptBecause('because')} from standing k where is_own
  union all
  select ${FORMER_AS_CELL}, ${keptBecause('because')} from standing k where not is_own
  ${careful ? REWRITTEN : ''}
), ${forgetStanding}`

const REWRITTEN = `
  on conflict (org_id, row_id, action) do update set status = excluded.status, outputs = excluded.outputs,
    error = excluded.error, run_id = excluded.run_id, revision = excluded.revision, attempts = excluded.attempts,
    credits_millis = excluded.credits_millis, cached = excluded.cached, provenance = excluded.provenance,
    learns = excluded.learns, billing = excluded.billing, kept = excluded.kept, started_at = excluded.started_at, completed_at = excluded.completed_at`

/**
 * Adds the tallies, which are already added up, as usage is. Statements that write the same lane do so in the order of
 * runs.
 */
const TALLIED = `
, tallied as (
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis, rows_out_of_credits, stopped_by)
  select o, run, @lane::int, d, f, r, c, oc, sb
  from jsonb_to_recordset(@tallies::jsonb) as t (o uuid, run uuid, d bigint, f bigint, r bigint, c bigint, oc bigint, sb jsonb)
  where ${WHOLE}
  order by run
  on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
    cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
    credits_millis = y.credits_millis + excluded.credits_millis,
    rows_out_of_credits = y.rows_out_of_credits + excluded.rows_out_of_credits,
    stopped_by = coalesce(excluded.stopped_by, y.stopped_by)
)`

/** Locks the shares against statements that end them, not against other settlements. */
export const SHARES = `
, share as materialized (
  select from unnest(@shareOrgs::uuid[], @sharePurses::uuid[], @shareHolders::text[]) as w (o, p, h)
  cross join lateral (
    select from purse_shares s where s.org_id = w.o and s.purse_id = w.p and s.holder = w.h for key share
  ) held
)`

const REMEMBERED = `
, remembered as (
  insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs, run_id, credits_millis)
  select distinct on (o, s, act, ep, ck) o, s, act, ep, ck, out, run, cr from valid
  where ck is not null and x ? 'kp'
  on conflict (org_id, sheet_id, action, epoch, key) do update
    set outputs = excluded.outputs, completed_at = excluded.completed_at, run_id = excluded.run_id,
      credits_millis = excluded.credits_millis
), unclaimed as (
  delete from cell_claims c using valid v
  where v.ck is not null and c.org_id = v.o and c.sheet_id = v.s and c.action = v.act and c.epoch = v.ep
    and c.key = v.ck and c.row_id = v.r
)`

/**
 * Inserts a record for the cells of a run, which folding enters in the ledger with the time of the cells. Nothing is
 * updated.
 */
export const CHARGED = `
, charged as (
  insert into purse_charges (org_id, holder, purse_ids, millis, facts, kinds, row_ids, kind_of)
  select g.o, g.h, g.p, g.m, g.f, g.k,
    case when @chargedFlights::int[] is null then @rows::uuid[] else array(select (@rows::uuid[])[n] from unnest((@chargedFlights::int[])[g.ra:g.rz]) n) end,
    (@chargeKinds::smallint[])[g.a:g.z]
  from jsonb_to_recordset(@charges::jsonb) as g (o uuid, h text, p uuid[], m bigint, f jsonb, k jsonb, a int, z int, ra int, rz int)
  where ${WHOLE}
)`
