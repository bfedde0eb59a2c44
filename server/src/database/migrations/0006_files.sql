-- Objects in the storage, under the key <org_id>/<file_ref>. Each has an end: what expires is removed, object first.
create table files (
  org_id uuid not null references organisations on delete cascade,
  -- Unguessable; it is all that a caller needs to name the file.
  file_ref text not null unique,
  kind text not null,
  name text not null,
  -- Null until all of it is there.
  size_bytes bigint,
  created_by text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  expires_at timestamptz not null,
  primary key (org_id, file_ref)
);
create index files_by_expiry on files (expires_at);
call loam_protect('files');

create table imports (
  org_id uuid not null,
  import_id uuid not null,
  sheet_id uuid not null,
  file_ref text not null,
  sheet_name text,
  -- [{header, column}]: the file's header and the number of the input's column.
  mapping jsonb not null,
  run_after text not null,
  status text not null default 'processing' check (status in ('processing', 'completed', 'failed')),
  rows_imported bigint not null default 0,
  -- How many chunks were written, and where in the file the next one starts: written with the rows of each chunk.
  chunks integer not null default 0,
  position jsonb,
  -- How often work on it began since its last chunk.
  starts integer not null default 0,
  error text,
  created_by text not null,
  key_id uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (org_id, import_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
create index imports_by_sheet on imports (org_id, sheet_id, import_id);
create index imports_by_end on imports (finished_at) where finished_at is not null;
-- One at a time on a sheet (D6).
create unique index imports_under_way on imports (org_id, sheet_id) where status = 'processing';
call loam_protect('imports');
