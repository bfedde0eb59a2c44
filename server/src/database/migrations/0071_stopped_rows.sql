-- Rows that Stop ended before their last cell, until they run again (D92).
create table stopped_rows (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  primary key (org_id, row_id)
);
create index stopped_rows_by_sheet on stopped_rows (org_id, sheet_id);
call loam_protect('stopped_rows');
