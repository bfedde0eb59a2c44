-- What a source said about an entity at once: all fields of a record, or one of them where the source had said something
-- else before. Every field of it counts as a value of its own; how they are put together makes no difference.
create table record_statements (
  org_id uuid not null,
  entity_id uuid not null,
  source text collate "C" not null,
  fields_hash bytea not null,
  fields jsonb not null,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  primary key (org_id, entity_id, source, fields_hash)
);
call loam_protect('record_statements');

-- The migration sees all organisations.
select set_config('loam.org', '*', true);
insert into record_statements
  select org_id, entity_id, source, sha256(convert_to(said::text, 'UTF8')), said, first_seen, last_seen
  from record_values, lateral (select jsonb_build_object(field, value) as said) as statement;
drop table record_values;

-- In this order the key also finds identifiers by their beginning.
alter table record_identifiers drop constraint record_identifiers_pkey,
  add primary key (org_id, identifier, identifier_kind, kind);
drop index record_identifiers_by_text;

-- Reasons, which may quote values of an entity, are kept apart from now on. Those that are not are left out.
update segment_syncs set last_import_error = case
    when state = 'paused_error' then jsonb_set(last_import_error, '{message}',
      to_jsonb(regexp_replace(last_import_error ->> 'message', '(see to the cause, then resume): .*$', '\1')))
  end
where last_import_error is not null;
update segment_failures set message = 'It is tried again at every cycle';
