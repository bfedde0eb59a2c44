-- What spending is counted in, beside the balance of the organisation (organisations: credits_millis, held_millis): caps of
-- what a request starts, and periods of budgets. `granted` is what workers have set aside of it, their shares.
create table purses (
  org_id uuid not null,
  purse_id uuid not null,
  kind text not null check (kind in ('cap', 'budget')),
  -- Of a cap; null: none. The limit of a budget stands in budgets, so that a change of it is a change of one record.
  limit_millis bigint check (limit_millis >= 0),
  spent_millis bigint not null default 0 check (spent_millis >= 0),
  granted_millis bigint not null default 0 check (granted_millis >= 0),
  -- Of a budget: the period, or the run, that this purse counts.
  budget_id uuid,
  period_start timestamptz,
  run_id uuid,
  -- Of a cap that many runs of a day draw on: whose.
  subject text,
  -- When it first had too little left.
  refused_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (org_id, purse_id),
  check (kind = 'cap' or budget_id is not null)
);
create unique index purses_of_budgets on purses (org_id, budget_id, period_start, run_id) nulls not distinct
  where budget_id is not null;
create unique index purses_of_days on purses (org_id, subject, period_start) where subject is not null;
call loam_protect('purses');

-- What a holder has set aside of a purse; purse_id = org_id is the balance. The holder is a worker process, which alone
-- draws on it, or a record that holds credits by itself (`lasting`): a run of the agent.
create table purse_shares (
  org_id uuid not null,
  purse_id uuid not null,
  holder text not null,
  lasting boolean not null default false,
  granted_millis bigint not null check (granted_millis >= 0),
  primary key (org_id, purse_id, holder)
) with (fillfactor = 50);
create index purse_shares_by_holder on purse_shares (holder);
call loam_protect('purse_shares');

-- What shares were spent on and the ledger does not have yet: one record for the cells of a run that are settled together.
-- Added only, so that settlements never wait for each other. Folding makes ledger entries of them.
create table purse_charges (
  org_id uuid not null,
  charge_id bigint generated always as identity,
  holder text not null,
  purse_ids uuid[] not null,
  millis bigint not null check (millis > 0),
  at timestamptz not null default clock_timestamp(),
  -- Of the run: ids, member, key, trigger.
  facts jsonb not null,
  -- [[row_id, action, action_id, millis, providers]]
  entries jsonb not null,
  primary key (org_id, charge_id)
);
create index purse_charges_by_holder on purse_charges (holder);
call loam_protect('purse_charges');

-- What cells that are running hold, by run and worker process, as of a second ago.
create table run_holds (
  org_id uuid not null,
  run_id uuid not null,
  holder text not null,
  held_millis bigint not null,
  primary key (org_id, run_id, holder)
);
create index run_holds_by_holder on run_holds (holder);
call loam_protect('run_holds');

create table budgets (
  org_id uuid not null references organisations on delete cascade,
  budget_id uuid not null,
  name text not null,
  scope text not null check (scope in ('organisation', 'member', 'key', 'workflow', 'sheet')),
  -- The email of a member, or the id of a key, workflow or sheet.
  subject text,
  trigger text,
  period text not null check (period in ('run', 'day', 'month', 'total')),
  limit_millis bigint not null check (limit_millis >= 0),
  mode text not null check (mode in ('stop', 'warn')),
  created_at timestamptz not null default now(),
  primary key (org_id, budget_id),
  check ((scope = 'organisation') = (subject is null)),
  unique nulls not distinct (org_id, scope, subject, trigger, period)
);
call loam_protect('budgets');

-- What caps the run: a purse that everything draws on that the request started.
alter table runs add column cap_purse_id uuid;
