-- Runs of the web agent. A run under way holds its price; what ended is kept for seven days with its trace.
create table agent_runs (
  org_id uuid not null references organisations on delete cascade,
  agent_run_id uuid not null,
  -- As callers know it; they may give one themselves, so it need not be unique.
  request_id text not null,
  member_id uuid not null,
  key_id uuid,
  state text not null default 'running' check (state in ('running', 'answered', 'failed')),
  price_millis bigint not null check (price_millis >= 0),
  model text,
  prompt text not null,
  error text,
  answer jsonb,
  trace jsonb,
  spent jsonb,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (org_id, agent_run_id)
);
create index agent_runs_by_request on agent_runs (org_id, request_id);
create index agent_runs_by_time on agent_runs (org_id, started_at);
create index agent_runs_under_way on agent_runs (started_at) where state = 'running';
call loam_protect('agent_runs');
