-- What everything costs, a row for each change. Runs, charges and estimates name the version that they follow.
create table price_versions (
  version integer primary key,
  effective_at timestamptz not null default now(),
  -- What the operator has set, and the whole list that comes of it.
  changes jsonb not null,
  prices jsonb not null
);
alter table runs add column price_version integer not null default 1;
alter table credit_entries add column price_version integer;
