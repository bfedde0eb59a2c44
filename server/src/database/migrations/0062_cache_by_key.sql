-- The key of an entry, which is all that tells it from others, before what many have in common: the way to one took a sixth longer.
alter table cell_cache drop constraint cell_cache_pkey;
alter table cell_cache add primary key (org_id, sheet_id, key, action, epoch);
