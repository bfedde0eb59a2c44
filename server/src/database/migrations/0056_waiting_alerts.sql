create index budget_messages_waiting on budget_messages (org_id) where due_at is not null;

-- As before, but messages of an organisation that has 2,000 waiting are not added: whoever sends looks at all that are due. The
-- alert itself stands in its budget all the same.
create or replace function loam_fire_thresholds(purse purses, refused boolean) returns void language sql as $$
  with fired as (
    insert into budget_alerts (org_id, budget_id, period_start, run_id, limit_millis, threshold, spent_millis)
    select b.org_id, b.budget_id, purse.period_start, purse.run_id, b.limit_millis, t, purse.spent_millis
    from budgets b cross join unnest(b.thresholds) t
    where b.org_id = purse.org_id and b.budget_id = purse.budget_id
      and ((purse.spent_millis > 0 and purse.spent_millis * 100 >= b.limit_millis * t) or (refused and t = 100))
    order by t
    on conflict (org_id, budget_id, period_start, run_id, limit_millis, threshold) do nothing
    returning org_id, budget_id, alert_id
  )
  insert into budget_messages (org_id, alert_id, email)
  select f.org_id, f.alert_id, told.email from fired f
  join budgets b on b.org_id = f.org_id and b.budget_id = f.budget_id
  cross join lateral (select unnest(b.emails) union all select null where b.webhook_url is not null) told (email)
  where 2000 > (select count(*) from (
    select from budget_messages m where m.org_id = f.org_id and m.due_at is not null limit 2000) waiting)
$$;
