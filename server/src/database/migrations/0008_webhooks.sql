-- The webhook input of a sheet. Its address holds the token, which is looked up by its hash and shown again unsealed.
-- Switched off it keeps the token, so that senders need not be told a new address.
create table webhooks (
  org_id uuid not null,
  sheet_id uuid not null,
  token_hash bytea not null unique,
  token_sealed text not null,
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (org_id, sheet_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
call loam_protect('webhooks');

-- Ids of deliveries that were taken in, with what was answered: whoever sends one again gets the same answer and no row.
-- `key` is the hash of the id.
create table webhook_ids (
  org_id uuid not null,
  sheet_id uuid not null,
  key bytea not null,
  answer jsonb not null,
  created_at timestamptz not null default now(),
  primary key (org_id, sheet_id, key)
);
create index webhook_ids_by_age on webhook_ids (created_at);
call loam_protect('webhook_ids');

-- The latest deliveries of each sheet, for whoever looks for one that went wrong.
create table webhook_deliveries (
  org_id uuid not null,
  sheet_id uuid not null,
  delivery_no bigserial,
  at timestamptz not null default now(),
  status integer not null,
  webhook_id text,
  accepted integer not null,
  rejected integer not null,
  reason text,
  body text not null,
  primary key (org_id, sheet_id, delivery_no)
);
call loam_protect('webhook_deliveries');

create table schedules (
  org_id uuid not null,
  sheet_id uuid not null,
  cron text not null,
  timezone text not null,
  next_run_at timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (org_id, sheet_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
create index schedules_by_next_run on schedules (next_run_at);
call loam_protect('schedules');
