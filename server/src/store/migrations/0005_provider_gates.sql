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
