-- Rows that somebody deleted in the dashboard, whole, for as long as that can be undone. A row and its cells are kept as
-- PostgreSQL prints them, so that they come back exactly as they were.
create table deleted_rows (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  seq bigint not null,
  record text not null,
  cells text[] not null,
  deleted_at timestamptz not null default now(),
  primary key (org_id, row_id)
);
create index deleted_rows_by_time on deleted_rows (deleted_at);
call loam_protect('deleted_rows');
