-- Running cells hold credits in the memory of their worker, within its shares. What flights held goes back.
update organisations o set held_millis = o.held_millis - h.held
from (select org_id, sum(held_millis) as held from flights group by org_id having sum(held_millis) > 0) h
where o.org_id = h.org_id;
alter table flights drop column held_millis;

alter table run_tallies
  add column rows_out_of_credits bigint not null default 0,
  -- What kept those rows from running: {kind, budget_id?}.
  add column stopped_by jsonb;
-- Who spends, where whoever started the run did so for somebody else: rows that are sent on.
alter table runs add column member text;

-- What a setting lets the runs cost that it starts: those of a day, of a cycle, of a tick.
alter table imports add column cap_purse_id uuid;
alter table source_syncs add column max_credits_millis bigint check (max_credits_millis >= 0);
alter table segment_destinations add column max_credits_millis bigint check (max_credits_millis >= 0);

-- What runs of the agent hold is a share of theirs.
insert into purse_shares (org_id, purse_id, holder, lasting, granted_millis)
select org_id, org_id, 'agent-' || agent_run_id, true, price_millis from agent_runs
where state = 'running' and price_millis > 0;
