-- What was spent, by day and by what the ledger says of each entry: sums that outlive workflows, and that equal the ledger
-- because they are made with its entries, by whoever adds them.
create table usage_charges (
  org_id uuid not null,
  day date not null,
  workflow_id uuid,
  sheet_id uuid,
  action_id text,
  provider text,
  member text,
  key_id uuid,
  trigger text,
  credits_millis bigint not null,
  refunded_millis bigint not null
) with (fillfactor = 50);
create unique index usage_charges_key on usage_charges
  (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger) nulls not distinct;
call loam_protect('usage_charges');

-- What a charge holds beyond what its providers took is the action's own price, of no provider.
create function loam_count_charges() returns trigger language plpgsql as $$
begin
  insert into usage_charges as u (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger,
    credits_millis, refunded_millis)
  select a.org_id, (a.at at time zone 'UTC')::date, a.workflow_id, a.sheet_id, a.action_id, part.provider, a.member, a.key_id,
    a.trigger, coalesce(sum(part.millis) filter (where a.type = 'charge'), 0),
    coalesce(sum(part.millis) filter (where a.type = 'refund'), 0)
  from added a cross join lateral (
    select p.provider, round(p.credits * 1000)::bigint as millis
    from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
    union all
    select null, abs(a.amount_millis) - coalesce(sum(round(p.credits * 1000)), 0)::bigint
    from jsonb_to_recordset(a.providers) as p (provider text, credits numeric)
  ) part
  where a.type <> 'grant' and part.millis <> 0
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9
  on conflict (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger) do update
    set credits_millis = u.credits_millis + excluded.credits_millis,
      refunded_millis = u.refunded_millis + excluded.refunded_millis;
  return null;
end
$$;
create trigger count_charges after insert on credit_entries referencing new table as added
  for each statement execute function loam_count_charges();

-- What is in the ledger already is counted the same way.
create temp table earlier (like credit_entries) on commit drop;
create trigger count_charges after insert on earlier referencing new table as added
  for each statement execute function loam_count_charges();
insert into earlier select * from credit_entries;

-- Cells that came to a result. In lanes, so that workers do not wait for each other.
create table usage_cells (
  org_id uuid not null,
  day date not null,
  workflow_id uuid,
  sheet_id uuid,
  action_id text,
  provider text,
  member text,
  key_id uuid,
  trigger text,
  lane integer not null,
  cells bigint not null,
  cells_billed bigint not null,
  cells_cached bigint not null,
  saved_by_cache_millis bigint not null,
  saved_by_own_keys_millis bigint not null
) with (fillfactor = 50);
create unique index usage_cells_key on usage_cells
  (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger, lane) nulls not distinct;
call loam_protect('usage_cells');
insert into usage_cells
select org_id, (at at time zone 'UTC')::date, workflow_id, sheet_id, action_id,
  case when jsonb_array_length(providers) = 1 then providers->0->>'provider' end, member, key_id, trigger, 0,
  count(*), count(*), 0, 0, 0
from credit_entries where type = 'charge' and reason = 'cell' group by 1, 2, 3, 4, 5, 6, 7, 8, 9;

create index usage_cells_by_workflow on usage_cells (org_id, workflow_id);
-- Names of workflows that are gone, for the books.
create table workflow_names (
  org_id uuid not null references organisations on delete cascade,
  workflow_id uuid not null,
  name text not null,
  primary key (org_id, workflow_id)
);
call loam_protect('workflow_names');

-- Which run a stored answer comes from, and what it cost.
alter table cell_cache add column run_id uuid, add column credits_millis bigint not null default 0;
-- Where a cell has its answer from, or what stopped it, where that is more than its result says.
alter table cells add column billing jsonb;
-- From a cell to its charge.
create index credit_entries_by_row on credit_entries (org_id, row_id) where row_id is not null;
