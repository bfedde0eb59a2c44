/**
 * Writes results: cell, cache entry, ledger entry, tallies, and the end of flights that are through. Every parameter is a
 * column of the batch, the last but one holds what few items have (`x`). A flight in the middle of its chain is only locked,
 * and changed where the cell left something in it.
 *
 * The fence decides item by item: the flight is still this worker's, and the run has no result for the cell yet. What a worker
 * without it sends has no effect. Flights are locked in the order of the items, then organisations in theirs. Subqueries
 * instead of joins, and `is not distinct from` instead of `=` for the run: the primary key is then the way to a flight and to
 * a cell, also before statistics exist.
 */
export const SETTLE = `
with valid as materialized (
  select i.o, i.s, i.r, i.run, i.rev, i.act, i.st, i.at, i.nx, i.n, nullif(i.out, 'null') as out, i.x,
    coalesce((i.x->>'cr')::bigint, 0) as cr, (i.x->>'hd')::bigint as hd, i.x->>'ck' as ck, (i.x->>'ep')::int as ep,
    cell.run_id as earlier
  from rows from (
    unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::int[], $8::text[], $9::text[],
      $10::bigint[], $11::boolean[]),
    jsonb_array_elements($12::jsonb), jsonb_array_elements($13::jsonb)
  ) with ordinality as i (o, s, r, run, rev, t, a, act, st, at, nx, out, x, n)
  cross join lateral (
    select from flights f
    where f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a
    for no key update
  ) mine
  cross join lateral (
    select (select c.run_id from cells c where c.org_id = i.o and c.row_id = i.r and c.action = i.act) offset 0
  ) cell
  where cell.run_id is distinct from i.run
), cleared as (
  update flights f set retries = 0, held_millis = 0, state = null
  from valid i where i.nx and i.x ? 'cl' and f.org_id = i.o and f.row_id = i.r
), landed as (
  delete from flights f using valid i where not i.nx and f.org_id = i.o and f.row_id = i.r
), written as (
  insert into cells (org_id, sheet_id, row_id, action, status, outputs, error, run_id, revision, attempts,
    credits_millis, cached, provenance, learns, started_at)
  select o, s, r, act, st, out, x->>'err', run, rev, coalesce((x->>'tries')::int, 1), cr, x ? 'ca', x->'pv', x ? 'ln',
    to_timestamp(at / 1000.0) from valid where earlier is null
), rewritten as (
  update cells c set status = v.st, outputs = v.out, error = v.x->>'err', run_id = v.run, revision = v.rev,
    attempts = coalesce((v.x->>'tries')::int, 1), credits_millis = v.cr, cached = v.x ? 'ca', provenance = v.x->'pv',
    learns = v.x ? 'ln', started_at = to_timestamp(v.at / 1000.0), completed_at = now()
  from valid v where v.earlier is not null and c.org_id = v.o and c.row_id = v.r and c.action = v.act
), remembered as (
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
), tallied as (
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis)
  select o, run, $14::int, count(*), count(*) filter (where st in ('failed', 'error', 'out_of_credits')),
    count(*) filter (where not nx), sum(cr)
  from valid group by o, run order by run
  on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
    cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
    credits_millis = y.credits_millis + excluded.credits_millis
)
select v.ns, run.state as run_state
from (select o, run, json_agg(n) as ns from valid group by o, run) v
join runs run on run.org_id = v.o and run.run_id = v.run`
