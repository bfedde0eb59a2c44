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
-- the next free slot: each call moves it on, so that whoever waits knows until when.
create table provider_gates (
  bucket text primary key,
  next_at timestamptz not null default '-infinity',
  broken_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- How many calls a process has under way, for limits on calls at once. One that was not heard of for a while counts no more.
create table provider_calls (
  bucket text not null,
  holder text not null,
  under_way integer not null,
  beat_at timestamptz not null default now(),
  primary key (bucket, holder)
) with (fillfactor = 50);
