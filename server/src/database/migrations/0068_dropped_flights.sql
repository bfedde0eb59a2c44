-- Flights whose cell was running when their row was deleted, or run anew: by its fence a worker posts the charge for a call that it
-- made for one of them, once.
create table dropped_flights (
  org_id uuid not null,
  row_id uuid not null,
  run_id uuid not null,
  ticket integer not null,
  attempt integer not null,
  dropped_at timestamptz not null default now(),
  primary key (org_id, row_id, run_id)
);
create index dropped_flights_by_time on dropped_flights (dropped_at);
call loam_protect('dropped_flights');
