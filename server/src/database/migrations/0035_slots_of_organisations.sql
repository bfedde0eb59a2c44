-- Organisations take turns at the slots of a provider: `slots` is the last one that each of them was given, by the time it
-- starts at (milliseconds), as long as that is ahead.
alter table provider_gates add column slots jsonb not null default '{}';
