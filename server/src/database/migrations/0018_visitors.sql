-- Addresses of sources that receive: the script on a customer's pages, and where another service posts. The address holds the
-- token, which is looked up by its hash and shown again unsealed.
create table source_tokens (
  org_id uuid not null,
  instance_id uuid not null,
  kind text not null check (kind in ('pixel', 'webhook')),
  token_hash bytea not null unique,
  token_sealed text not null,
  primary key (org_id, instance_id, kind),
  foreign key (org_id, instance_id) references sources on delete cascade
);
call loam_protect('source_tokens');

-- What arrived and is not part of a record yet, sealed. It is removed with the record that it became part of.
create table source_inbox (
  org_id uuid not null,
  instance_id uuid not null,
  item_no bigserial,
  at timestamptz not null default now(),
  sealed text not null,
  primary key (org_id, instance_id, item_no)
);
create index source_inbox_by_age on source_inbox (at);
call loam_protect('source_inbox');

-- Visits that were counted: hashes under the salt of their day.
create table source_visits (
  org_id uuid not null,
  instance_id uuid not null,
  visit text not null,
  at timestamptz not null default now(),
  primary key (org_id, instance_id, visit)
);
create index source_visits_by_age on source_visits (at);
call loam_protect('source_visits');

-- Whose an address is, for a day. `subject` is a hash under the salt of the day; `found` is null where nobody knows.
create table source_lookups (
  org_id uuid not null,
  subject text not null,
  found jsonb,
  price_millis bigint not null,
  at timestamptz not null default now(),
  primary key (org_id, subject)
);
create index source_lookups_by_age on source_lookups (at);
call loam_protect('source_lookups');

-- Random, one for each day, removed when the day is over: the hashes that were made with it mean nothing then.
create table visit_salts (
  day date primary key,
  salt bytea not null
);

alter table sources
  add column received_count bigint not null default 0,
  add column unresolved_count bigint not null default 0,
  add column received_at timestamptz;
