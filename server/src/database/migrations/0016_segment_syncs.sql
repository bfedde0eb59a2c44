-- Syncs bring the members of a segment into workflows.

-- The number in the feed with which a member entered last. Syncs read members behind a number, whatever was pruned of the feed.
alter table segment_members add column entered_seq bigint not null default 0;
create index segment_members_by_entry on segment_members (org_id, segment_id, entered_seq) where is_member;

-- A segment has one living sync. `filter_hash` is the filter of its last cycle; `recent_counts` are the members that its last
-- cycles let through, the latest first. `held_through`: members that entered up to this number wait for somebody's decision.
create table segment_syncs (
  org_id uuid not null references organisations on delete cascade,
  sync_id uuid not null,
  segment_id uuid not null,
  state text not null default 'active'
    check (state in ('active', 'paused_error', 'pending_confirmation', 'deleted')),
  held_reason text check (held_reason in ('filter_changed', 'flood')),
  held_through bigint not null default 0,
  filter_hash text not null,
  recent_counts bigint[] not null default '{}',
  -- Ticks taken so far, and the last one whose members were counted.
  tick bigint not null default 0,
  planned_tick bigint not null default 0,
  next_cycle_at timestamptz not null default now(),
  last_cycle_at timestamptz,
  last_import_error jsonb,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, sync_id),
  foreign key (org_id, segment_id) references record_segments on delete cascade,
  check ((state = 'pending_confirmation') = (held_reason is not null))
);
create unique index segment_syncs_by_segment on segment_syncs (org_id, segment_id) where state <> 'deleted';
create index segment_syncs_due on segment_syncs (next_cycle_at) where state in ('active', 'pending_confirmation');
create index segment_syncs_deleted on segment_syncs (org_id, sync_id) where state = 'deleted';
call loam_protect('segment_syncs');

-- A workflow that members go to. Those who entered up to `position` were seen to; up to `cleared_through` they may be delivered.
-- The workflow may be gone: the next cycle says so.
create table segment_destinations (
  org_id uuid not null,
  connection_id uuid not null,
  sync_id uuid not null,
  workflow_id uuid not null,
  mapping jsonb not null,
  run text not null check (run in ('all', 'none')),
  reentry_mode text not null check (reentry_mode in ('suppress', 'repush')),
  state text not null default 'active' check (state in ('active', 'paused')),
  position bigint not null,
  cleared_through bigint not null,
  delivered bigint not null default 0,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, connection_id),
  unique (org_id, sync_id, workflow_id),
  foreign key (org_id, sync_id) references segment_syncs on delete cascade,
  check (position <= cleared_through)
);
call loam_protect('segment_destinations');

-- The row that a member became, written with it: one for each destination and entity, whatever becomes of the row.
create table segment_deliveries (
  org_id uuid not null,
  connection_id uuid not null,
  entity_id uuid not null,
  entered_seq bigint not null,
  row_id uuid not null,
  delivered_at timestamptz not null default now(),
  primary key (org_id, connection_id, entity_id),
  foreign key (org_id, connection_id) references segment_destinations on delete cascade
);
call loam_protect('segment_deliveries');

-- Members whose delivery failed, until it succeeds or they leave.
create table segment_failures (
  org_id uuid not null,
  connection_id uuid not null,
  entity_id uuid not null,
  attempts integer not null default 1,
  message text not null,
  failed_at timestamptz not null default now(),
  primary key (org_id, connection_id, entity_id),
  foreign key (org_id, connection_id) references segment_destinations on delete cascade
);
call loam_protect('segment_failures');
