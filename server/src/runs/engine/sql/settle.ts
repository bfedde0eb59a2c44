import { nameParameters } from '../../../database/connection/named-parameters.ts'
import {
  CELL_COLUMNS,
  FORMER_AS_CELL,
  FORMER_AS_CURRENT,
  forgetStanding,
  keptBecause,
} from '../../store/former-cells.ts'
import { FENCED } from './fence.ts'
import { listRows } from './groups.ts'
import { USED } from './usage.ts'

/** The ending of a cell without a result of its own: the row goes on after it, or ends there. */
export const GOES_ON = 1
export const ENDS_ROW = 2

/** The error code of a refused batch: a flight of it was taken over or is gone. */
export const FLIGHT_LOST = 'LM001'
/** The error code of a refused batch: a lease that pays for its cells was ended. */
export const LEASE_LOST = 'LM002'

// The forms of the statement are at the end of the file. They are made of these parts.

export const OF_FLIGHTS = {
  o: '@orgs::uuid[]',
  run: '@runs::uuid[]',
  t: '@tickets::int[]',
  a: '@attempts::int[]',
}
export const WHOLE = '(select ok from whole)'
const FLIGHTS = listRows({ ...OF_FLIGHTS, act: '@nextActions::text[]' })
const LOCKED = `
  select i.k, i.n
  from ${FLIGHTS}
  cross join lateral (select from flights f where ${FENCED} for no key update) held`

const ALL_LOCKED = '(select count(*) from mine) = cardinality(@rows::uuid[])'
const ALL_LEASES = '(select count(*) from lease) = cardinality(@leaseLimits::uuid[])'
const LEASE_REFUSED = `loam_refuse('${LEASE_LOST}', 'a lease that pays for these cells was ended')`
const FLIGHT_REFUSED = `loam_refuse('${FLIGHT_LOST}', 'a flight of this batch was taken over or is gone')`

/** Refuses the batch if a flight or a lease is missing. */
export const WHOLE_OR_REFUSED = `
  select case when not ${ALL_LEASES} then ${LEASE_REFUSED} when not ${ALL_LOCKED} then ${FLIGHT_REFUSED} else true end as ok`
/** Is false if a flight is missing: the statement then writes nothing. Refuses the batch if a lease is missing. */
const WHOLE_OR_NOTHING = `
  select case when ${ALL_LEASES} then ${ALL_LOCKED} else ${LEASE_REFUSED} end as ok`

/** Locks the leases against statements that end them, not against other settlements. */
export const LEASES = `
  select from unnest(@leaseOrgs::uuid[], @leaseLimits::uuid[], @leaseHolders::text[]) as w (o, p, h)
  cross join lateral (
    select from purse_shares s where s.org_id = w.o and s.purse_id = w.p and s.holder = w.h for key share
  ) held`

const ofGroup = (column: string) => `(${column})[(@groups::int[])[c.f]]`
const CELLS = `
  select ${ofGroup('@orgs::uuid[]')} as o, ${ofGroup('@sheets::uuid[]')} as s, ${ofGroup('@runs::uuid[]')} as run,
    ${ofGroup('@revisions::int[]')} as rev, (@rows::uuid[])[c.f] as r, c.f, c.n::int as n, c.act, c.at, c.st, nullif(c.out, 'null') as out, c.cr,
    c.cached, c.learns, @billings::jsonb -> (nullif(c.billing, 0) - 1) as billing,
    nullif(@extras::jsonb -> (c.n - 1)::int, 'null') as x
  from rows from (
    unnest(@flights::int[], @actions::text[], @startedAt::bigint[], @statuses::text[], @cached::boolean[], @learns::boolean[],
      @billing::int[], @prices::bigint[]),
    jsonb_array_elements(@outputs::jsonb)
  ) with ordinality as c (f, act, at, st, cached, learns, billing, cr, out, n)
  where ${WHOLE}`
/** The cells with their endings, whether their rows are finished, and their keys of the cache. */
const KEYED_CELLS = `
  select c.*, (@endings::int[])[c.n] as ends_at, (@finished::boolean[])[c.f] as ends, decode(c.x->>'ck', 'hex') as ck, (c.x->>'ep')::int as ep
  from (${CELLS}) c`

const INTO_CELLS = `cells as c (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, started_at,
    cached, learns, billing, credits_millis, attempts, error, provenance)`
const CELL = `o, s, r, act, st, out, run, rev, to_timestamp(at::float8 / 1000),
    cached, learns, billing, cr, coalesce((x->>'tries')::int, 1), x->>'err', x->'pv'`

const FINISHED = `
  delete from flights f using ${listRows({ o: '@orgs::uuid[]' })}
  where (@finished::boolean[])[i.n] and ${WHOLE} and f.org_id = i.o and f.row_id = i.r`

/** Cells are settled in the order of their run: if it has no result for the first one, it has none for the others. */
const UNSETTLED = `0 = (select count(*) from cells c where c.org_id = i.o and c.row_id = i.r and c.action = i.act
    and c.run_id is not distinct from i.run)`

const REWRITTEN = `
  on conflict (org_id, row_id, action) do update set status = excluded.status, outputs = excluded.outputs,
    error = excluded.error, run_id = excluded.run_id, revision = excluded.revision, attempts = excluded.attempts,
    credits_millis = excluded.credits_millis, cached = excluded.cached, provenance = excluded.provenance,
    learns = excluded.learns, billing = excluded.billing, kept = excluded.kept, started_at = excluded.started_at, completed_at = excluded.completed_at`

/** Lists the former results of cells that end without a result of their own, and of cells that their row no longer comes to. */
const STANDING = `
  select k.*, v.st as because, k.action = v.act as is_own
  from cell v, lateral (
    select * from former_cells k where k.org_id = v.o and k.row_id = v.r and k.by_run = v.run
      and case when k.action = v.act then k.status = 'complete' else v.ends_at = ${ENDS_ROW} and (
        select array_position(actions, k.action) > array_position(actions, v.act)
        from runs where org_id = v.o and run_id = v.run) end
    offset 0
  ) k
  where v.ends_at > 0 and (select exists (select from former_cells
    where org_id = any(@orgs::uuid[]) and by_run = any(@runs::uuid[])))`

/**
 * Adds the tallies, which are already added up, as usage is. Statements that write the same lane do so in the order of
 * runs.
 */
const talliedWith = (kept: string) => `
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis, rows_out_of_credits,
    rows_failed, cells_skipped, cells_kept, stopped_by)
  select o, run, @lane::int, d, f, r, c, oc, rf, cs, ${kept}, sb
  from jsonb_to_recordset(@tallies::jsonb) as t (
    o uuid, run uuid, d bigint, f bigint, r bigint, c bigint, oc bigint, rf bigint, cs bigint, sb jsonb)
  where ${WHOLE}
  order by run
  on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
    cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
    credits_millis = y.credits_millis + excluded.credits_millis,
    rows_out_of_credits = y.rows_out_of_credits + excluded.rows_out_of_credits,
    rows_failed = y.rows_failed + excluded.rows_failed, cells_skipped = y.cells_skipped + excluded.cells_skipped,
    cells_kept = y.cells_kept + excluded.cells_kept, stopped_by = coalesce(excluded.stopped_by, y.stopped_by)`

const REMEMBERED = `
  insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs, run_id, credits_millis)
  select distinct on (o, s, act, ep, ck) o, s, act, ep, ck, out, run, cr from cell
  where ck is not null and x ? 'kp'
  on conflict (org_id, sheet_id, action, epoch, key) do update
    set outputs = excluded.outputs, completed_at = excluded.completed_at, run_id = excluded.run_id,
      credits_millis = excluded.credits_millis`

const UNCLAIMED = `
  delete from cell_claims c using cell v
  where v.ck is not null and c.org_id = v.o and c.sheet_id = v.s and c.action = v.act and c.epoch = v.ep
    and c.key = v.ck and c.row_id = v.r`

/**
 * Inserts a record for the cells of a run, which posting enters in the ledger with the time of the cells. Nothing is
 * updated.
 */
export const CHARGED = `
  insert into purse_charges (org_id, holder, purse_ids, millis, facts, kinds, row_ids, kind_of)
  select g.o, g.h, g.p, g.m, g.f, g.k,
    case when @chargedFlights::int[] is null then @rows::uuid[] else array(select (@rows::uuid[])[n] from unnest((@chargedFlights::int[])[g.ra:g.rz]) n) end,
    (@chargeKinds::smallint[])[g.a:g.z]
  from jsonb_to_recordset(@charges::jsonb) as g (o uuid, h text, p uuid[], m bigint, f jsonb, k jsonb, a int, z int, ra int, rz int)
  where ${WHOLE}`

const ANSWERED = `
select m.k, m.ns, run.state as run_state
from (select k, case when not ${WHOLE} then json_agg(n) end as ns from mine group by k) m
join runs run on run.org_id = (@orgs::uuid[])[m.k] and run.run_id = (@runs::uuid[])[m.k]`

/** The end of each form. `kept` is the number of cells of a run that got their former results back. */
const accountedWith = (kept: string) => `charged as (${CHARGED}
), tallied as (${talliedWith(kept)}
), used as (${USED}
)${ANSWERED}`
const KEPT = '(select count(*) from standing k where k.by_run = t.run)'

/**
 * Settles plain cells of finished flights. Flights are removed by their fences instead of being locked first. The batch
 * is refused if a flight is lost, and fails if a cell stands in the place of a new one.
 */
const LAST = `
with mine as materialized (
  delete from flights f using ${FLIGHTS} where ${FENCED} returning i.k, i.n
), lease as materialized (${LEASES}
), whole as materialized (${WHOLE_OR_REFUSED}
), written as (
  insert into ${INTO_CELLS}
  select ${CELL} from (${CELLS}) c
), ${accountedWith('0')}`

/** Settles plain cells of flights that go on or are finished. Fails if a cell stands in the place of a new one. */
const PLAIN = `
with mine as materialized (${LOCKED}
), lease as materialized (${LEASES}
), whole as materialized (${WHOLE_OR_NOTHING}
), finished as (${FINISHED}
), written as (
  insert into ${INTO_CELLS}
  select ${CELL} from (${CELLS}) c
), ${accountedWith('0')}`

/**
 * Settles cells of any kind, also where cells of another run stand: it writes cache entries, restores former results
 * (D84), and clears the retries and the state of flights that go on.
 */
const ANY = `
with mine as materialized (${LOCKED} where ${UNSETTLED}
), lease as materialized (${LEASES}
), whole as materialized (${WHOLE_OR_NOTHING}
), cell as materialized (${KEYED_CELLS}
), cleared as (
  update flights f set retries = 0, state = null
  from cell c where not c.ends and c.x ? 'cl' and f.org_id = c.o and f.row_id = c.r
), finished as (${FINISHED}
), standing as materialized (${STANDING}
), standing_again as (
  insert into cells as c (${CELL_COLUMNS}, kept)
  select ${FORMER_AS_CURRENT}, ${keptBecause('because')} from standing k where is_own
  union all
  select ${FORMER_AS_CELL}, ${keptBecause('because')} from standing k where not is_own ${REWRITTEN}
), ${forgetStanding}, written as (
  insert into ${INTO_CELLS}
  select ${CELL}
  from cell where ends_at = 0 or (r, act) not in (select row_id, action from standing where is_own) ${REWRITTEN}
), remembered as (${REMEMBERED}
), unclaimed as (${UNCLAIMED}
), ${accountedWith(KEPT)}`

export type SettleForm = 'last' | 'plain' | 'any'

/**
 * Writes results: cells, charges, tallies, usage, and the end of finished flights. The parameters are columns: of groups
 * of flights (orgs, sheets, runs, revisions, tickets, attempts, nextActions), of flights (rows; groups, by their places;
 * finished), of their cells (flights, by their places; actions, startedAt, statuses, outputs, cached, learns, billing, prices, endings,
 * extras), and of leases; and what is added to tallies and usage. A flight that goes on is only locked. It is changed if
 * the cell left something in it.
 *
 * The fence: the flight is still this worker's, and the run has no result for the cells yet. A batch in which one flight
 * has lost the fence writes nothing. Flights are locked in the order given. Charges need the leases that they are paid
 * of: if one was ended, the batch is refused.
 *
 * Subqueries instead of joins, and `is not distinct from` instead of `=` for the run, make the primary key the way to a
 * flight and to a cell, also before statistics exist.
 */
export const SETTLE = {
  last: { name: 'engine-settle-last', ...nameParameters(LAST) },
  plain: { name: 'engine-settle-plain', ...nameParameters(PLAIN) },
  any: { name: 'engine-settle-any', ...nameParameters(ANY) },
}
