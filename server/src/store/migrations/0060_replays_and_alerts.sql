-- The run that a kept answer names in its header.
alter table idempotency_keys add column run_id uuid;
