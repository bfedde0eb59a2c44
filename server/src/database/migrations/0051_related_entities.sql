-- From an entity to those that are related to it in one way, in order: some have a million of them.
create index record_relationships_by_target_type on record_relationships (org_id, to_id, type, from_id);
drop index record_relationships_by_target;
