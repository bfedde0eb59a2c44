-- Files built from a sheet, private to the member who asked for them. Kept for a day, also when the sheet is gone before:
-- the record is what leads to the file, so it goes after it. `attempt` fences: of several that build, the latest counts.
create table exports (
  org_id uuid not null references organisations on delete cascade,
  export_id uuid not null,
  sheet_id uuid not null,
  member_id uuid not null,
  format text not null,
  file_name text not null,
  selection jsonb not null,
  plan jsonb not null,
  -- Rows that were added after the request are not in the file.
  below_seq bigint not null,
  status text not null default 'running' check (status in ('running', 'completed', 'failed')),
  attempt integer not null default 0,
  progress integer not null default 0 check (progress < 100 or status = 'completed'),
  row_count bigint not null default 0,
  size_bytes bigint,
  error text,
  started_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (org_id, export_id)
);
create index exports_by_age on exports (started_at);
create index exports_by_sheet on exports (org_id, sheet_id);
call loam_protect('exports');
