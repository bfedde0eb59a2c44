-- Segments: saved filters over entities of one kind, their members, and the feed of who came and went.

-- `evaluated_change_no`: members are current up to this change of an entity. A new filter is first evaluated over all entities, by id:
-- `scanned_id` is the last one done, null when `evaluated_version` has reached `filter_version`.
-- `filter_seq` is the last number of the feed under the filter before. `pruned_seq` is the last one that was removed by age.
create table record_segments (
  org_id uuid not null references organisations on delete cascade,
  segment_id uuid not null,
  name text not null,
  kind text not null check (kind in ('company', 'person', 'contact')),
  filter jsonb not null,
  filter_hash text not null,
  filter_version integer not null default 1,
  filter_changed_at timestamptz not null default now(),
  filter_seq bigint not null default 0,
  evaluated_version integer not null default 0,
  scanned_id uuid,
  evaluated_change_no bigint not null default 0,
  last_seq bigint not null default 0,
  pruned_seq bigint not null default 0,
  member_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, segment_id)
);
create unique index record_segments_by_name on record_segments (org_id, lower(name));
call loam_protect('record_segments');

-- Members, those who were one (so that they re-enter), and those whom time may make one.
-- `check_at` is when time alone can change the answer; `-infinity` asks for it at once.
create table segment_members (
  org_id uuid not null,
  segment_id uuid not null,
  entity_id uuid not null,
  is_member boolean not null default false,
  entered_at timestamptz,
  check_at timestamptz,
  primary key (org_id, segment_id, entity_id),
  foreign key (org_id, segment_id) references record_segments on delete cascade,
  check (entered_at is not null or not is_member)
);
create index segment_members_present on segment_members (org_id, segment_id, entity_id) where is_member;
create index segment_members_by_check on segment_members (org_id, segment_id, check_at) where check_at is not null;
call loam_protect('segment_members');

-- The feed. `seq` has no gaps and becomes visible in order: it is given under the lock of the segment.
create table segment_changes (
  org_id uuid not null,
  segment_id uuid not null,
  seq bigint not null,
  entity_id uuid not null,
  kind text not null check (kind in ('enter', 'exit', 'reenter')),
  at timestamptz not null,
  filter_version integer not null,
  primary key (org_id, segment_id, seq),
  foreign key (org_id, segment_id) references record_segments on delete cascade
);
call loam_protect('segment_changes');
