-- What each entry of the ledger is about, kept with it: workflows, runs and members come and go, the ledger stays.
alter table credit_entries
  add column type text not null default 'charge' check (type in ('grant', 'charge', 'refund')),
  add column run_id uuid,
  add column workflow_id uuid,
  add column sheet_id uuid,
  add column row_id uuid,
  add column action text,
  add column action_id text,
  -- Whoever started the run; the owner of the workflow where nobody did.
  add column member text,
  add column key_id uuid,
  add column trigger text,
  add column refund_of uuid,
  -- [{provider, credits}]
  add column providers jsonb not null default '[]';
update credit_entries set type = 'grant' where amount_millis > 0;
update credit_entries e set run_id = (e.details->>'run_id')::uuid, row_id = (e.details->>'row_id')::uuid,
  action = e.details->>'action'
where e.reason = 'cell';
update credit_entries e set workflow_id = s.workflow_id, sheet_id = s.sheet_id, trigger = r.trigger,
  member = case when position('@' in r.created_by) > 0 then r.created_by end
from runs r join sheets s on s.org_id = r.org_id and s.sheet_id = r.sheet_id
where e.run_id is not null and r.org_id = e.org_id and r.run_id = e.run_id;
-- Each charge is given back once.
create unique index credit_entries_refunded on credit_entries (org_id, refund_of) where refund_of is not null;
create index credit_entries_by_run on credit_entries (org_id, run_id, entry_id) where run_id is not null;
