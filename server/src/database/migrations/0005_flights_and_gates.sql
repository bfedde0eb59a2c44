-- A flight no longer names its cell: that is the first action of its run that has no result of that run yet. Settling a free
-- cell in the middle of a chain then leaves the flight as it is. The fence is (run, ticket, attempt).
alter table flights
  drop column action,
  -- How often the same cell was taken up, and how many results of the run there were when it was taken up last.
  add column strikes integer not null default 0,
  add column settled integer not null default 0;
-- The flights of a sheet are those of its runs.
drop index flights_by_sheet;

-- Limits on calls to providers, shared by all worker processes. A bucket is a provider with a key. `next_at` is the time of
-- the next free slot: each call moves it on, so that whoever waits knows until when. `calls` is what each process has under
-- way, [count, time it was heard of], for limits on calls at once: in the one record, so that its lock decides.
create table provider_gates (
  bucket text primary key,
  next_at timestamptz not null default '-infinity',
  broken_until timestamptz not null default '-infinity',
  calls jsonb not null default '{}'
) with (fillfactor = 50);

-- Who computes a cell that the cache does not have yet (D27). It counts as long as the row that claimed it is in the air.
create table cell_claims (
  org_id uuid not null,
  sheet_id uuid not null,
  action text not null,
  epoch integer not null,
  key bytea not null,
  row_id uuid not null,
  run_id uuid not null,
  primary key (org_id, sheet_id, action, epoch, key)
) with (fillfactor = 70);
call loam_protect('cell_claims');
