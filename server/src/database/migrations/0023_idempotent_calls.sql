-- A call whose work outlives its transaction is under way as long as its run of the agent is.
alter table idempotency_keys add column agent_run_id uuid;
-- What was claimed by an earlier version and never answered would be under way for ever.
delete from idempotency_keys where status is null;
