-- The record store: what is known about companies, people and contacts, from whom, and since when.

-- Numbers the changes of an organisation's entities. Taken as the last lock of a transaction and kept until its commit, so
-- that numbers become visible in their order: whoever read up to one has missed none below it.
create table record_counters (
  org_id uuid primary key references organisations on delete cascade,
  last_change bigint not null
);
call loam_protect('record_counters');

-- An entity, or a part of one: entities that were found to be one keep their own records and share a root.
-- `fields` and `provenance` are kept at the root. What was erased or merged stays as an empty record with its change number.
create table record_entities (
  org_id uuid not null references organisations on delete cascade,
  entity_id uuid not null,
  kind text not null check (kind in ('company', 'person', 'contact')),
  root_id uuid not null,
  fields jsonb not null default '{}',
  provenance jsonb not null default '{}',
  change_no bigint not null,
  created_at timestamptz not null default now(),
  erased_at timestamptz,
  primary key (org_id, entity_id)
);
create index record_entities_by_root on record_entities (org_id, root_id);
create unique index record_entities_by_change on record_entities (org_id, change_no);
create index record_entities_by_field on record_entities using gin (fields jsonb_path_ops);
call loam_protect('record_entities');

-- `kind` is that of the entity: a person and a contact may have the same address.
create table record_identifiers (
  org_id uuid not null references organisations on delete cascade,
  kind text not null,
  identifier_kind text not null,
  identifier text collate "C" not null,
  entity_id uuid not null,
  primary key (org_id, kind, identifier_kind, identifier)
);
create index record_identifiers_by_entity on record_identifiers (org_id, entity_id);
create index record_identifiers_by_text on record_identifiers (org_id, identifier);
call loam_protect('record_identifiers');

-- Every value that a source has given for a field: the provenance of the current ones, and the history of all.
create table record_values (
  org_id uuid not null references organisations on delete cascade,
  entity_id uuid not null,
  field text not null,
  source text not null,
  value_hash bytea not null,
  value jsonb not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (org_id, entity_id, field, source, value_hash)
);
call loam_protect('record_values');

create table record_fields (
  org_id uuid not null references organisations on delete cascade,
  kind text not null,
  field text not null,
  type text not null,
  primary key (org_id, kind, field)
);
call loam_protect('record_fields');

-- The declared order of sources; those that are not listed come after it, the latest first.
create table record_sources (
  org_id uuid not null references organisations on delete cascade,
  source text not null,
  rank integer not null,
  primary key (org_id, source)
);
call loam_protect('record_sources');

create table record_relationships (
  org_id uuid not null references organisations on delete cascade,
  from_id uuid not null,
  type text not null,
  to_id uuid not null,
  source text not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (org_id, from_id, type, to_id, source)
);
create index record_relationships_by_target on record_relationships (org_id, to_id);
call loam_protect('record_relationships');

create table record_events (
  org_id uuid not null references organisations on delete cascade,
  entity_id uuid not null,
  type text not null,
  at timestamptz not null,
  source text not null,
  data_hash bytea not null,
  data jsonb not null,
  primary key (org_id, entity_id, type, at, source, data_hash)
);
create index record_events_by_time on record_events (org_id, type, at);
call loam_protect('record_events');

-- `parts` are the entities that changed their root; undoing a merge gives them back to `merged_id`.
create table record_merges (
  org_id uuid not null references organisations on delete cascade,
  merge_id uuid not null,
  kept_id uuid not null,
  merged_id uuid not null,
  parts uuid[] not null,
  cause text not null,
  actor text not null,
  at timestamptz not null default now(),
  undone_at timestamptz,
  primary key (org_id, merge_id)
);
create index record_merges_by_kept on record_merges (org_id, kept_id);
create index record_merges_by_merged on record_merges (org_id, merged_id);
call loam_protect('record_merges');

-- Entities that somebody took apart: no import merges them again.
create table record_separations (
  org_id uuid not null references organisations on delete cascade,
  low_id uuid not null,
  high_id uuid not null,
  primary key (org_id, low_id, high_id)
);
create index record_separations_by_high on record_separations (org_id, high_id);
call loam_protect('record_separations');
