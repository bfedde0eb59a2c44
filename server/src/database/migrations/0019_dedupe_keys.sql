-- The values of a sheet's rows as auto_dedupe_rows compares them (D72): a hash for each row, in the order of the rows, so that
-- the first row of a value is found without reading the sheet. Filled up to `up_to` for each choice of columns.
create table dedupe_keys (
  org_id uuid not null,
  sheet_id uuid not null,
  columns text not null,
  key bytea not null,
  seq bigint not null,
  primary key (org_id, sheet_id, columns, key, seq)
);
call loam_protect('dedupe_keys');

create table dedupe_progress (
  org_id uuid not null,
  sheet_id uuid not null,
  columns text not null,
  up_to bigint not null default 0,
  primary key (org_id, sheet_id, columns)
);
call loam_protect('dedupe_progress');
create index dedupe_keys_by_row on dedupe_keys (org_id, sheet_id, columns, seq);

-- In its place: it knew only who had asked first.
drop table unique_values;
