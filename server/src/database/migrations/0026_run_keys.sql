-- The key that a run was started with: sheets that its cells are told by a token must be within the reach of that key (D36).
-- Null for what nobody started (schedule, webhook, source, segment) and for the operator.
alter table runs add column key_id uuid;
