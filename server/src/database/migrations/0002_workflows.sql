create table workflows (
  org_id uuid not null references organisations on delete cascade,
  workflow_id uuid not null,
  name text not null,
  owner_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_run_at timestamptz,
  deleted_at timestamptz,
  primary key (org_id, workflow_id),
  foreign key (org_id, owner_id) references members on delete set null (owner_id)
);
create index workflows_by_owner on workflows (org_id, owner_id);
call loam_protect('workflows');

create table workflow_shares (
  org_id uuid not null,
  workflow_id uuid not null,
  member_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (org_id, workflow_id, member_id),
  foreign key (org_id, workflow_id) references workflows on delete cascade,
  foreign key (org_id, member_id) references members on delete cascade
);
create index workflow_shares_by_member on workflow_shares (org_id, member_id);
call loam_protect('workflow_shares');

-- The main sheet has the id of its workflow. `revision` is the current one of chain_revisions; column numbers and the
-- suffixes of action instances are handed out once and never again.
create table sheets (
  org_id uuid not null,
  sheet_id uuid not null,
  workflow_id uuid not null,
  name text not null,
  position integer not null,
  owner_id uuid,
  auto_run boolean not null default false,
  cache_enabled boolean not null default false,
  cache_since date,
  continue_on_fail boolean not null default false,
  revision integer not null default 1,
  next_column integer not null default 1,
  action_serials jsonb not null default '{}',
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (org_id, sheet_id),
  foreign key (org_id, workflow_id) references workflows on delete cascade,
  foreign key (org_id, owner_id) references members on delete set null (owner_id)
);
create index sheets_by_workflow on sheets (org_id, workflow_id, position);
call loam_protect('sheets');

-- What a sheet does: its inputs and its action chain. Never changed; every edit adds one, a run pins one (D20).
create table chain_revisions (
  org_id uuid not null,
  sheet_id uuid not null,
  revision integer not null,
  definition jsonb not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, sheet_id, revision),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
call loam_protect('chain_revisions');

-- Rows are numbered 1, 2, 3, ... in the order of their insertion, under the lock of this record: any page is found by
-- its number and the total is a subtraction. Deleting all rows raises `first_seq`; a purge removes what lies below.
create table sheet_counters (
  org_id uuid not null,
  sheet_id uuid not null,
  first_seq bigint not null default 1,
  next_seq bigint not null default 1,
  deleted bigint not null default 0,
  primary key (org_id, sheet_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade
) with (fillfactor = 50);
call loam_protect('sheet_counters');

-- Values are keyed by column number, so that a column can be renamed and a removed one does not come back. The time of
-- creation is in the row id (UUID version 7).
create table rows (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  seq bigint not null,
  data jsonb not null
);
create unique index rows_by_seq on rows (org_id, sheet_id, seq);
-- Without the sheet, so that a lookup by row id is never estimated like one by sheet while there are no statistics. Last on
-- purpose: of indexes that seem to cost the same the planner takes the newest.
alter table rows add primary key (org_id, row_id);
call loam_protect('rows');

-- How many rows of each block of 1,024 numbers are gone. Only blocks with deletions have an entry.
create table row_gaps (
  org_id uuid not null,
  sheet_id uuid not null,
  block bigint not null,
  deleted integer not null,
  primary key (org_id, sheet_id, block)
);
call loam_protect('row_gaps');

-- Work that a request leaves behind so that it need not wait: rows below `below_seq` are to be removed.
create table purges (
  org_id uuid not null,
  sheet_id uuid not null,
  below_seq bigint not null,
  created_at timestamptz not null default now(),
  primary key (org_id, sheet_id)
);
call loam_protect('purges');
