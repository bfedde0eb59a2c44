-- What cells wrote into the record store. A cell that is tried again after a crash finds its answer here, and writes nothing.
create table record_cell_writes (
  org_id uuid not null,
  row_id uuid not null,
  run_id uuid not null,
  action text not null,
  answer jsonb not null,
  primary key (org_id, row_id, run_id, action)
);
call loam_protect('record_cell_writes');

-- The names that sources, events and relationships have, by the kind of entity that they are used with.
create table record_terms (
  org_id uuid not null references organisations on delete cascade,
  topic text not null check (topic in ('source', 'event', 'relationship')),
  kind text not null,
  term text not null,
  primary key (org_id, topic, kind, term)
);
call loam_protect('record_terms');

-- Email addresses in a text, cut to the letters and digits around the @: every mention of an address has one of these in it,
-- whatever stands before or after. Escapes of JSON are no letters.
create function loam_addresses(content text) returns setof text language sql immutable strict parallel safe as $$
  select distinct found[1] from regexp_matches(
    regexp_replace(lower(content), '\\(u[0-9a-f]{4}|.)', ' ', 'g'),
    '([a-z0-9]*@[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)*)', 'g') as found
$$;

-- Which entities mention an address outside of their own email identifiers, so that erasing it need not read all others.
create table record_addresses (
  org_id uuid not null references organisations on delete cascade,
  address text collate "C" not null,
  entity_id uuid not null,
  primary key (org_id, address, entity_id)
);
create index record_addresses_by_entity on record_addresses (org_id, entity_id);
call loam_protect('record_addresses');

-- The migration sees all organisations.
select set_config('loam.org', '*', true);
insert into record_terms
  select distinct v.org_id, 'source', e.kind, v.source from record_values v join record_entities e using (org_id, entity_id)
  union select distinct v.org_id, 'event', e.kind, v.type from record_events v join record_entities e using (org_id, entity_id)
  union select distinct r.org_id, 'relationship', e.kind, r.type
    from record_relationships r join record_entities e on e.org_id = r.org_id and e.entity_id = r.from_id;
insert into record_addresses
  select v.org_id, a, v.entity_id from record_values v, loam_addresses(v.value::text) a where strpos(v.value::text, '@') > 0
  union select v.org_id, a, v.entity_id from record_events v, loam_addresses(v.data::text) a where strpos(v.data::text, '@') > 0
  union select i.org_id, a, i.entity_id from record_identifiers i, loam_addresses(i.identifier) a
    where i.identifier_kind <> 'email' and strpos(i.identifier, '@') > 0;
