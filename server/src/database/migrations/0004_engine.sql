-- Credits that running cells have set aside. What is free is credits_millis - held_millis.
alter table organisations
  add column held_millis bigint not null default 0 check (held_millis >= 0),
  add constraint holds_are_covered check (held_millis <= credits_millis);

-- Cells hold results only: a cell that is queued or running is its row's entry in flights.
create table cells (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  action text not null,
  status text not null,
  outputs jsonb,
  error text,
  run_id uuid not null,
  revision integer not null,
  attempts integer not null,
  credits_millis bigint not null,
  cached boolean not null,
  provenance jsonb,
  -- Whether the outputs of this action are known only from its runs (D35).
  learns boolean not null default false,
  started_at timestamptz not null,
  completed_at timestamptz not null default now(),
  primary key (org_id, row_id, action)
);
-- Few cells fail, and those are looked for.
create index cells_failed on cells (org_id, sheet_id, action, status)
  where status in ('failed', 'error', 'out_of_credits');
create index cells_learned on cells (org_id, sheet_id, action, completed_at) where learns;
call loam_protect('cells');

create table runs (
  org_id uuid not null,
  run_id uuid not null,
  sheet_id uuid not null,
  trigger text not null,
  selector jsonb not null,
  revision integer not null,
  -- The actions this run executes, in order. A row's flight walks along them.
  actions text[] not null,
  cache_enabled boolean not null,
  cache_since date,
  continue_on_fail boolean not null,
  -- How often rows were sent on from sheet to sheet until this run (D36).
  hops integer not null default 0,
  rows_queued bigint not null default 0,
  state text not null default 'running' check (state in ('running', 'finished', 'stopped')),
  created_by text not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (org_id, run_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
create index runs_by_sheet on runs (org_id, sheet_id, run_id);
create index runs_under_way on runs (org_id) where state = 'running';
call loam_protect('runs');

-- Progress of a run, in lanes, so that workers that settle cells of one run do not wait for each other.
create table run_tallies (
  org_id uuid not null,
  run_id uuid not null,
  lane integer not null,
  cells_done bigint not null,
  cells_failed bigint not null,
  rows_done bigint not null,
  credits_millis bigint not null,
  primary key (org_id, run_id, lane),
  foreign key (org_id, run_id) references runs on delete cascade
) with (fillfactor = 50);
call loam_protect('run_tallies');

-- The one cell of a row that is queued or running. (run, ticket, action, attempt) is the fence: whoever does not hold
-- the current one changes nothing. Narrow and updated in place.
create table flights (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  run_id uuid not null,
  action text not null,
  status text not null,
  ticket integer not null default 0,
  attempt integer not null default 0,
  retries integer not null default 0,
  held_millis bigint not null default 0,
  state jsonb
) with (fillfactor = 60);
create index flights_by_sheet on flights (org_id, sheet_id);
create index flights_by_run on flights (org_id, run_id);
-- Last on purpose, as for rows: the way to a flight is its row, also before statistics exist.
alter table flights add primary key (org_id, row_id);
call loam_protect('flights');

create table cell_cache (
  org_id uuid not null,
  sheet_id uuid not null,
  action text not null,
  epoch integer not null,
  key bytea not null,
  outputs jsonb not null,
  completed_at timestamptz not null default now(),
  primary key (org_id, sheet_id, action, epoch, key)
);
call loam_protect('cell_cache');

-- Processes that take jobs. One that has not been heard of for a while is gone, and its jobs are given to others.
create table workers (
  worker_id text primary key,
  beat_at timestamptz not null default now()
);

-- Rows that a cell has sent to another sheet: a cell that is run again finds what it sent (D36).
create table sent_rows (
  org_id uuid not null,
  run_id uuid not null,
  row_id uuid not null,
  action text not null,
  item integer not null,
  target_row_id uuid not null,
  primary key (org_id, row_id, run_id, action, item)
);
call loam_protect('sent_rows');

-- Which row of a sheet was the first with a value, for auto_dedupe_rows.
create table unique_values (
  org_id uuid not null,
  sheet_id uuid not null,
  action text not null,
  key bytea not null,
  row_id uuid not null,
  primary key (org_id, sheet_id, action, key)
);
call loam_protect('unique_values');
