/** What a batch of results holds. The statement does without the parts that it has nothing for. */
export type BatchKind = {
  /** Some item has something that a free cell, complete at the first attempt, has not: `x` is not null. */
  extras: boolean
  /** Some flight is through. */
  landing: boolean
  /** There may be a cell of an earlier run, or of this one, where a result goes. */
  careful: boolean
}

/**
 * Writes results: cell, cache entry, ledger entry, tallies, and the end of flights that are through. The parameters are columns
 * of the batch; the first four say what its runs are, once for all their items (`k`). A flight in the middle of its chain is
 * only locked, and changed where the cell left something in it.
 *
 * The fence decides item by item: the flight is still this worker's, and the run has no result for the cell yet. What a worker
 * without it sends has no effect. Most batches take it for granted that there is no cell: one that is there fails the batch,
 * and it is sent again item by item, carefully. Flights are locked in the order of the items, then organisations in theirs.
 * Subqueries instead of joins, and `is not distinct from` instead of `=` for the run: the primary key is then the way to a
 * flight and to a cell, also before statistics exist.
 */
export function settleStatement({ extras, landing, careful }: BatchKind): string {
  const when = (holds: boolean, text: string) => (holds ? text : '')
  return `
with valid as materialized (
  select ($1::uuid[])[i.k] as o, ($2::uuid[])[i.k] as s, ($3::uuid[])[i.k] as run, ($4::int[])[i.k] as rev,
    i.r, i.act, i.st, i.at, i.nx, i.n, nullif(i.out, 'null') as out
    ${when(extras, EXTRAS)} ${when(careful, ', cell.run_id as earlier')}
  from rows from (
    unnest($5::int[], $6::uuid[], $7::int[], $8::int[], $9::text[], $10::text[], $11::bigint[], $12::boolean[]),
    jsonb_array_elements($13::jsonb) ${when(extras, ', jsonb_array_elements($15::jsonb)')}
  ) with ordinality as i (k, r, t, a, act, st, at, nx, out ${when(extras, ', x')}, n)
  cross join lateral (
    select from flights f
    where f.org_id = ($1::uuid[])[i.k] and f.row_id = i.r and f.run_id is not distinct from ($3::uuid[])[i.k]
      and f.ticket = i.t and f.attempt = i.a
    for no key update
  ) mine
  ${when(careful, CAREFULLY)}
)
${when(extras, CLEARED)}
${when(landing, LANDED)}
, written as (
  insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, started_at,
    ${extras ? 'error, attempts, credits_millis, cached, provenance, learns' : 'attempts, credits_millis, cached'})
  select o, s, r, act, st, out, run, rev, to_timestamp(at / 1000.0),
    ${extras ? EXTRA_COLUMNS : '1, 0, false'}
  from valid ${when(careful, 'where earlier is null')}
)
${when(careful && extras, REWRITTEN)}
${when(extras, REMEMBERED_AND_PAID)}
, tallied as (
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis)
  select o, run, $14::int, count(*), count(*) filter (where st in ('failed', 'error', 'out_of_credits')),
    count(*) filter (where not nx), ${extras ? 'sum(cr)' : '0'}
  from valid group by o, run order by run
  on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
    cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
    credits_millis = y.credits_millis + excluded.credits_millis
)
select v.ns, run.state as run_state
from (select o, run, json_agg(n) as ns from valid group by o, run) v
join runs run on run.org_id = v.o and run.run_id = v.run`
}

const EXTRAS = `
    , i.x, coalesce((i.x->>'cr')::bigint, 0) as cr, (i.x->>'hd')::bigint as hd, i.x->>'ck' as ck, (i.x->>'ep')::int as ep`

const EXTRA_COLUMNS = `x->>'err', coalesce((x->>'tries')::int, 1), cr, x ? 'ca', x->'pv', x ? 'ln'`

const CAREFULLY = `
  cross join lateral (
    select (select c.run_id from cells c
      where c.org_id = ($1::uuid[])[i.k] and c.row_id = i.r and c.action = i.act) offset 0
  ) cell
  where cell.run_id is distinct from ($3::uuid[])[i.k]`

const CLEARED = `
, cleared as (
  update flights f set retries = 0, held_millis = 0, state = null
  from valid i where i.nx and i.x ? 'cl' and f.org_id = i.o and f.row_id = i.r
)`

const LANDED = `
, landed as (
  delete from flights f using valid i where not i.nx and f.org_id = i.o and f.row_id = i.r
)`

const REWRITTEN = `
, rewritten as (
  update cells c set status = v.st, outputs = v.out, error = v.x->>'err', run_id = v.run, revision = v.rev,
    attempts = coalesce((v.x->>'tries')::int, 1), credits_millis = v.cr, cached = v.x ? 'ca', provenance = v.x->'pv',
    learns = v.x ? 'ln', started_at = to_timestamp(v.at / 1000.0), completed_at = now()
  from valid v where v.earlier is not null and c.org_id = v.o and c.row_id = v.r and c.action = v.act
)`

const REMEMBERED_AND_PAID = `
, remembered as (
  insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs)
  select distinct on (o, s, act, ep, ck) o, s, act, ep, decode(ck, 'hex'), out from valid
  where ck is not null and x ? 'kp'
  on conflict (org_id, sheet_id, action, epoch, key) do update
    set outputs = excluded.outputs, completed_at = excluded.completed_at
), unclaimed as (
  delete from cell_claims c using valid v
  where v.ck is not null and c.org_id = v.o and c.sheet_id = v.s and c.action = v.act and c.epoch = v.ep
    and c.key = decode(v.ck, 'hex') and c.row_id = v.r
), payer as (
  select org_id, credits_millis from organisations
  where org_id in (select o from valid where hd > 0) order by org_id for update
), paid as (
  update organisations org set credits_millis = org.credits_millis - v.cost, held_millis = org.held_millis - v.held
  from (select o, sum(cr) as cost, sum(hd) as held from valid where hd > 0 group by o) v
  join payer on payer.org_id = v.o
  where org.org_id = v.o
), entered as (
  insert into credit_entries (org_id, entry_id, amount_millis, balance_millis, reason, details)
  select v.o, (v.x->>'e')::uuid, -v.cr, payer.credits_millis - sum(v.cr) over (partition by v.o order by v.n), 'cell',
    jsonb_build_object('run_id', v.run, 'row_id', v.r, 'action', v.act)
  from valid v join payer on payer.org_id = v.o where v.cr > 0
)`
