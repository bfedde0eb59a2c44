-- The run in which an action named a row's values: those of an earlier run may not be what the row has now (D72).
alter table dedupe_keys add column run_id uuid;
