-- Who hears of a budget's thresholds, in percent of its limit.
alter table budgets
  add column thresholds integer[] not null default '{50,80,100}',
  add column emails text[] not null default '{}',
  add column webhook_url text,
  -- What deliveries to the webhook are signed with.
  add column secret_sealed text;

-- A threshold fires once a period (or run) and limit.
create table budget_alerts (
  org_id uuid not null,
  alert_id uuid not null default gen_random_uuid(),
  budget_id uuid not null,
  period_start timestamptz,
  run_id uuid,
  limit_millis bigint not null,
  threshold integer not null,
  spent_millis bigint not null,
  at timestamptz not null default now(),
  primary key (org_id, alert_id),
  foreign key (org_id, budget_id) references budgets on delete cascade
);
create unique index budget_alerts_once on budget_alerts (org_id, budget_id, period_start, run_id, limit_millis, threshold)
  nulls not distinct;
call loam_protect('budget_alerts');

-- What is to be sent of an alert: a mail to each address, and a delivery to the webhook (email is null), whose id is that of
-- the message in every try.
create table budget_messages (
  org_id uuid not null,
  message_id uuid not null default gen_random_uuid(),
  alert_id uuid not null,
  email text,
  tries integer not null default 0,
  -- Null: it was sent, or given up.
  due_at timestamptz default now(),
  error text,
  primary key (org_id, message_id),
  foreign key (org_id, alert_id) references budget_alerts on delete cascade
);
create index budget_messages_due on budget_messages (due_at) where due_at is not null;
call loam_protect('budget_messages');

-- Alerts of a purse that has come so far, with their messages, in the transaction of whoever spent. `refused`: it has just had
-- too little left, which counts as 100%.
create function loam_fire_thresholds(purse purses, refused boolean) returns void language sql as $$
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
$$;
create function loam_watch_budget() returns trigger language plpgsql as $$
begin
  perform loam_fire_thresholds(new, tg_op = 'UPDATE' and new.refused_at is not null
    and new.refused_at is distinct from old.refused_at);
  return null;
end
$$;
create trigger opened_budget after insert on purses for each row when (new.budget_id is not null)
  execute function loam_watch_budget();
create trigger spent_of_budget after update of spent_millis, refused_at on purses for each row when (new.budget_id is not null)
  execute function loam_watch_budget();
