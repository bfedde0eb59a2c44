-- Large tables are not checked against their organisation row by row; those of sheets are not either.
alter table record_entities drop constraint record_entities_org_id_fkey;
alter table record_identifiers drop constraint record_identifiers_org_id_fkey;
alter table record_values drop constraint record_values_org_id_fkey;
alter table record_events drop constraint record_events_org_id_fkey;
alter table record_relationships drop constraint record_relationships_org_id_fkey;
alter table record_addresses drop constraint record_addresses_org_id_fkey;
-- Row-level security keeps this operator from using an index, so it only cost.
drop index record_entities_by_field;
