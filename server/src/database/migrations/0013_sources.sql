-- Instances of sources. What a pull has come to is in `walk`, and is written together with the records that it brought, under
-- `version`: whoever has another one writes nothing.
create table sources (
  org_id uuid not null references organisations on delete cascade,
  instance_id uuid not null,
  slug text not null,
  name text not null,
  body jsonb not null,
  -- Pinned when it was created: states are the provider's own.
  provider text not null,
  connection text,
  owner_id uuid,
  created_by text not null,
  -- As it was given, and the line of crontab that it comes to. Null for what is imported once.
  schedule text,
  cron text,
  stop_at timestamptz,
  pull_existing boolean not null default true,
  max_records integer,
  max_credits_millis bigint,
  status text not null default 'active'
    check (status in ('active', 'completed', 'paused', 'paused_out_of_credits', 'expired', 'deleted')),
  -- Records imported, which are numbered by it, and changes of records, which are numbered apart.
  lead_count integer not null default 0,
  change_count bigint not null default 0,
  price_millis bigint not null default 0,
  spent_millis bigint not null default 0,
  -- Set aside for the page that is being read.
  held_millis bigint not null default 0 check (held_millis >= 0),
  version integer not null default 0,
  claimed_until timestamptz,
  walk jsonb,
  resume jsonb,
  failures integer not null default 0,
  next_pull_at timestamptz,
  last_pull jsonb,
  last_error jsonb,
  created_at timestamptz not null default now(),
  primary key (org_id, instance_id),
  foreign key (org_id, owner_id) references members on delete set null (owner_id)
);
create unique index sources_by_id on sources (instance_id);
create index sources_by_owner on sources (org_id, owner_id);
create index sources_by_next_pull on sources (next_pull_at) where status = 'active';
create index sources_out_of_credits on sources (org_id) where status = 'paused_out_of_credits';
call loam_protect('sources');

-- `key` is the record's own and for ever. `seq` numbers records in the order of their import; null for one that is only known,
-- because it was there before the source was to import anything. `change_no` is new whenever the data is.
create table source_records (
  org_id uuid not null,
  instance_id uuid not null,
  key text not null,
  seq integer,
  change_no bigint,
  -- As text, so that fields keep their order.
  data json not null,
  hash text not null,
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  primary key (org_id, instance_id, key)
) with (fillfactor = 90);
create unique index source_records_by_seq on source_records (org_id, instance_id, seq) where seq is not null;
create index source_records_by_change on source_records (org_id, instance_id, change_no) where change_no is not null;
call loam_protect('source_records');

-- Records of a source that go into the main sheet of a workflow. `position` is the last change that was looked at.
create table source_syncs (
  org_id uuid not null,
  instance_id uuid not null,
  workflow_id uuid not null,
  mapping jsonb not null,
  push_existing boolean not null,
  on_change text not null default 'ignore' check (on_change in ('ignore', 'update', 'update_and_run')),
  -- Records with a lower number were there when it was connected without them.
  after_seq integer not null default 0,
  position bigint not null default 0,
  -- Connected anew, it looks at all records again; only changes behind this one are changes.
  seen_change bigint not null default 0,
  delivered integer not null default 0,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, instance_id, workflow_id),
  foreign key (org_id, instance_id) references sources on delete cascade,
  foreign key (org_id, workflow_id) references workflows on delete cascade
);
create index source_syncs_by_workflow on source_syncs (org_id, workflow_id);
call loam_protect('source_syncs');

-- The row that a record became in a workflow: once, whatever becomes of the sync, its mapping or the row.
create table source_deliveries (
  org_id uuid not null,
  instance_id uuid not null,
  workflow_id uuid not null,
  key text not null,
  row_id uuid not null,
  primary key (org_id, instance_id, workflow_id, key)
);
call loam_protect('source_deliveries');
