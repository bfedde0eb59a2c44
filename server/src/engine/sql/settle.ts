/**
 * Writes results: cell, cache entry, ledger entry, tallies, and either the next cell's publication or the end of the flight.
 * The fence decides item by item; what a worker without it sends has no effect. Organisations are locked in order. `is not
 * distinct from` keeps the run out of index conditions: the primary key is the way to a flight, also before statistics exist.
 */
export const SETTLE = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (
    n int, o uuid, s uuid, r uuid, run uuid, t int, a int, act text, st text, out jsonb, err text, rev int, at bigint,
    tries int, cr bigint, hd bigint, ca boolean, pv jsonb, nx text, e uuid, ck text, ep int, ln boolean)
), moved as (
  update flights f set action = i.nx, attempt = 1, retries = 0, held_millis = 0, state = null
  from item i
  where i.nx is not null and f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t
    and f.action = i.act and f.attempt = i.a
  returning i.n
), landed as (
  delete from flights f using item i
  where i.nx is null and f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t
    and f.action = i.act and f.attempt = i.a
  returning i.n
), valid as (
  select i.* from item i where i.n = any(array(select n from moved union all select n from landed))
), written as (
  insert into cells (org_id, sheet_id, row_id, action, status, outputs, error, run_id, revision, attempts,
    credits_millis, cached, provenance, learns, started_at)
  select o, s, r, act, st, out, err, run, rev, tries, cr, ca, pv, ln, to_timestamp(at / 1000.0) from valid
  on conflict (org_id, row_id, action) do update set status = excluded.status, outputs = excluded.outputs,
    error = excluded.error, run_id = excluded.run_id, revision = excluded.revision, attempts = excluded.attempts,
    credits_millis = excluded.credits_millis, cached = excluded.cached, provenance = excluded.provenance,
    learns = excluded.learns, started_at = excluded.started_at, completed_at = excluded.completed_at
), remembered as (
  insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs)
  select distinct on (o, s, act, ep, ck) o, s, act, ep, decode(ck, 'hex'), out from valid where ck is not null
  on conflict (org_id, sheet_id, action, epoch, key) do update
    set outputs = excluded.outputs, completed_at = excluded.completed_at
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
  select v.o, v.e, -v.cr, payer.credits_millis - sum(v.cr) over (partition by v.o order by v.n), 'cell',
    jsonb_build_object('run_id', v.run, 'row_id', v.r, 'action', v.act)
  from valid v join payer on payer.org_id = v.o where v.cr > 0
), tallied as (
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis)
  select o, run, $2::int, count(*), count(*) filter (where st in ('failed', 'error', 'out_of_credits')),
    count(*) filter (where nx is null), sum(cr)
  from valid group by o, run order by run
  on conflict (org_id, run_id, lane) do update set cells_done = y.cells_done + excluded.cells_done,
    cells_failed = y.cells_failed + excluded.cells_failed, rows_done = y.rows_done + excluded.rows_done,
    credits_millis = y.credits_millis + excluded.credits_millis
)
select v.n, s.state as run_state from valid v
join (
  select run.run_id, run.state from (select distinct o, run from valid) d
  join runs run on run.org_id = d.o and run.run_id = d.run
) s on s.run_id = v.run`
