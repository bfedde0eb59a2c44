-- Tests of actions on rows (H5): an answer without a run, kept for a day. `ticket` and `attempt` fence the worker that runs it, as in flights.
create table cell_tests (
  org_id uuid not null,
  test_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  -- The revision whose chain the action stands in, and the action as it is tested.
  revision integer not null,
  instance jsonb not null,
  is_saved boolean not null,
  keep boolean not null,
  member text not null,
  key_id uuid,
  price_version integer not null,
  cap_purse_id uuid,
  warnings jsonb not null,
  status text not null default 'queued',
  ticket integer not null default 0,
  attempt integer not null default 0,
  stalled integer not null default 0,
  retries integer not null default 0,
  state jsonb,
  created_at timestamptz not null default now(),
  -- What was found: everything beside the outputs, and the outputs.
  result jsonb,
  outputs jsonb,
  credits_millis bigint not null default 0,
  kept_at timestamptz,
  primary key (org_id, test_id)
);
create index cell_tests_by_time on cell_tests (created_at);
create index cell_tests_unfinished on cell_tests (org_id) where status in ('queued', 'running');
call loam_protect('cell_tests');
