-- Where usage was first counted (0037) by an ordinary role, row-level security hid from it what the ledger had by then. What is
-- missing is counted now, of that day and of those before it: later entries were counted by whoever added them.
create temp table counting on commit drop as
select applied_at, (applied_at at time zone 'UTC')::date as day from schema_migrations where version = 37;

create temp table expected on commit drop as
with alike as materialized (
  select e.org_id, (e.at at time zone 'UTC')::date as day, e.workflow_id, e.sheet_id, e.action_id, e.member, e.key_id, e.trigger,
    e.type, e.providers, count(*) as entries, sum(abs(e.amount_millis))::bigint as millis
  from ledger_entries e, counting c
  where e.type <> 'grant' and e.at < (c.day + 1)::timestamp at time zone 'UTC' group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
)
select a.org_id, a.day, a.workflow_id, a.sheet_id, a.action_id, part.provider, a.member, a.key_id, a.trigger,
  coalesce(sum(part.millis) filter (where a.type = 'charge'), 0)::bigint as credits_millis,
  coalesce(sum(part.millis) filter (where a.type = 'refund'), 0)::bigint as refunded_millis
from alike a cross join lateral (
  select p.provider, round(p.credits * 1000)::bigint * a.entries as millis
  from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
  union all
  select null, a.millis - coalesce(sum(round(p.credits * 1000)), 0)::bigint * a.entries
  from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
) part
where part.millis <> 0 group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

create temp table hidden on commit drop as
select org_id from (
  select org_id, credits_millis + refunded_millis as millis from expected
  union all
  select u.org_id, -u.credits_millis - u.refunded_millis from usage_charges u, counting c where u.day <= c.day
) books group by org_id having sum(millis) > 0;

insert into usage_charges as u (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger, credits_millis,
  refunded_millis)
select e.* from expected e join hidden using (org_id)
on conflict (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger) do update
  set credits_millis = excluded.credits_millis, refunded_millis = excluded.refunded_millis;

-- Workers count in lanes below 16.
insert into usage_cells (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger, lane, cells, cells_billed,
  cells_cached, saved_by_cache_millis, saved_by_own_keys_millis)
select e.org_id, (e.at at time zone 'UTC')::date, e.workflow_id, e.sheet_id, e.action_id,
  case when jsonb_array_length(e.providers) = 1 then e.providers->0->>'provider' end, e.member, e.key_id, e.trigger, 16,
  count(*), count(*), 0, 0, 0
from ledger_entries e join hidden using (org_id), counting c
where e.type = 'charge' and e.reason = 'cell' and e.at < c.applied_at group by 1, 2, 3, 4, 5, 6, 7, 8, 9
on conflict do nothing;
