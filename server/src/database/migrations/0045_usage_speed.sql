-- The same sums as before. Entries of a batch that say the same of their providers are added up first, so that the list of
-- providers is read once for all of them.
create or replace function loam_count_charges() returns trigger language plpgsql as $$
begin
  with alike as materialized (
    select org_id, (at at time zone 'UTC')::date as day, workflow_id, sheet_id, action_id, member, key_id, trigger, type,
      providers, count(*) as entries, sum(abs(amount_millis))::bigint as millis
    from added where type <> 'grant' group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  )
  insert into usage_charges as u (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger,
    credits_millis, refunded_millis)
  select a.org_id, a.day, a.workflow_id, a.sheet_id, a.action_id, part.provider, a.member, a.key_id, a.trigger,
    coalesce(sum(part.millis) filter (where a.type = 'charge'), 0),
    coalesce(sum(part.millis) filter (where a.type = 'refund'), 0)
  from alike a cross join lateral (
    select p.provider, round(p.credits * 1000)::bigint * a.entries as millis
    from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
    union all
    select null, a.millis - coalesce(sum(round(p.credits * 1000)), 0)::bigint * a.entries
    from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
  ) part
  where part.millis <> 0
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9
  on conflict (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger) do update
    set credits_millis = u.credits_millis + excluded.credits_millis,
      refunded_millis = u.refunded_millis + excluded.refunded_millis;
  return null;
end
$$;

-- Whoever adds an entry has changed the record of its organisation in the same transaction, so that it is there: to look it up
-- for each entry took as long as all the rest.
alter table credit_entries drop constraint credit_entries_org_id_fkey;
