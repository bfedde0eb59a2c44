-- The run that a kept answer names in its header.
alter table idempotency_keys add column run_id uuid;

-- Values of an import that could not be stored as given (D28), as those in `mismatches`: [{name, count, places}].
alter table imports add column normalized jsonb not null default '[]';

-- What was charged to the purse of a budget, folded or not, as `listPurses` reads it: of what was set aside, and by holds that
-- are older than the budget.
create function loam_purse_spent(purse purses) returns bigint language sql stable as $$
  select purse.spent_millis + coalesce(sum(c.millis), 0)::bigint
  from purse_charges c join budgets b on b.org_id = purse.org_id and b.budget_id = purse.budget_id
  where c.org_id = purse.org_id and (purse.purse_id = any(c.purse_ids) or (
    (b.trigger is null or b.trigger = c.facts->>'trigger')
    and case b.scope when 'organisation' then true when 'member' then b.subject = c.facts->>'member'
      when 'key' then b.subject = c.facts->>'key_id' when 'workflow' then b.subject = c.facts->>'workflow_id'
      else b.subject = c.facts->>'sheet_id' end
    and purse.period_start is not distinct from case b.period when 'day' then date_trunc('day', c.at, 'UTC')
      when 'month' then date_trunc('month', c.at, 'UTC') end
    and purse.run_id is not distinct from case b.period when 'run' then (c.facts->>'run_id')::uuid end
    and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
      and held.purse_id = any(c.purse_ids))))
$$;

-- As before, but alerts say what was spent up to them, folded or not, and a refusal also fires what that has reached. Only then is
-- it looked at: whoever folds and reaches nothing new does no more than before.
create or replace function loam_fire_thresholds(purse purses, refused boolean) returns void language plpgsql as $$
declare
  spent bigint := case when refused then loam_purse_spent(purse) else purse.spent_millis end;
  fired uuid[];
begin
  with added as (
    insert into budget_alerts (org_id, budget_id, period_start, run_id, limit_millis, threshold, spent_millis)
    select b.org_id, b.budget_id, purse.period_start, purse.run_id, b.limit_millis, t, spent
    from budgets b cross join unnest(b.thresholds) t
    where b.org_id = purse.org_id and b.budget_id = purse.budget_id
      and ((spent > 0 and spent * 100 >= b.limit_millis * t) or (refused and t = 100))
    on conflict (org_id, budget_id, period_start, run_id, limit_millis, threshold) do nothing
    returning alert_id
  )
  select array_agg(alert_id) into fired from added;
  if fired is null then return; end if;
  if not refused then
    update budget_alerts set spent_millis = loam_purse_spent(purse)
    where org_id = purse.org_id and alert_id = any(fired);
  end if;
  insert into budget_messages (org_id, alert_id, email)
  select a.org_id, a.alert_id, told.email from budget_alerts a
  join budgets b on b.org_id = a.org_id and b.budget_id = a.budget_id
  cross join lateral (select unnest(b.emails) union all select null where b.webhook_url is not null) told (email)
  where a.org_id = purse.org_id and a.alert_id = any(fired) and 2000 > (select count(*) from (
    select from budget_messages m where m.org_id = a.org_id and m.due_at is not null limit 2000) waiting);
end
$$;
