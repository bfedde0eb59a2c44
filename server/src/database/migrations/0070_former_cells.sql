-- What a cell had before the run `by_run`, until there is something new or a week has passed (D84). Columns as in cells.
create table former_cells (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  action text not null,
  by_run uuid not null,
  replaced_at timestamptz not null default now(),
  status text not null,
  outputs jsonb,
  error text,
  run_id uuid not null,
  revision integer not null,
  attempts integer not null,
  credits_millis bigint not null,
  cached boolean not null,
  provenance jsonb,
  learns boolean not null,
  billing jsonb,
  started_at timestamptz not null,
  completed_at timestamptz not null,
  primary key (org_id, row_id, action, by_run)
);
create index former_cells_by_run on former_cells (org_id, by_run);
create index former_cells_by_time on former_cells (replaced_at);
call loam_protect('former_cells');

-- Of a cell that has its former result again: {because, by, run_id}, by which run, and the run that computed the result. The cell at
-- which a row ended is the run's; those behind it stay what they were.
alter table cells add column kept jsonb;
create index cells_kept on cells (org_id, sheet_id) where kept is not null;

-- Cells of deleted rows are kept as text, which names their columns by place.
update deleted_rows set cells = array(select left(c, -1) || ',)' from unnest(cells) as c);
