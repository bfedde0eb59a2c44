-- Charges that were settled together are one record of the ledger, a block: an entry of its own for each took half of what a cell
-- costs. What cells of a run have in common is said once, and each entry is a row and a kind of charge.
create table credit_blocks (
  org_id uuid not null,
  -- Ids of the first and the last entry; those between are counted up, and nothing else of the ledger has one of them.
  first_id uuid not null,
  last_id uuid not null,
  entries integer not null check (entries > 0),
  at timestamptz not null,
  millis bigint not null check (millis > 0),
  -- After the last entry.
  balance_millis bigint not null check (balance_millis >= 0),
  -- All but the balance.
  purse_ids uuid[] not null,
  reason text not null,
  -- Null for cells, of which the entry says it all.
  details jsonb,
  run_id uuid,
  workflow_id uuid,
  sheet_id uuid,
  member text,
  key_id uuid,
  trigger text,
  price_version integer,
  -- [[action, action_id, millis, [{provider, credits}], entries]]: what entries were charged for, and how many.
  kinds jsonb not null,
  -- Of each entry: its row, and its place in kinds.
  row_ids uuid[] not null,
  kind_of smallint[] not null,
  primary key (org_id, last_id)
);
-- From a run to its charges, and from a cell, which has its result since the same moment, to its own.
create index credit_blocks_by_run on credit_blocks (org_id, run_id, at) where run_id is not null;
call loam_protect('credit_blocks');

-- The id of an entry that is `place` places behind another: milliseconds and a number below 4096, the rest as it is.
create function loam_later_entry(first_id uuid, place integer) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(no / 4096), 12, '0') || '7' || lpad(to_hex(no % 4096), 3, '0') || substr(first_id::text, 20))::uuid
  from (select ('x' || left(replace(first_id::text, '-', ''), 12))::bit(48)::bigint * 4096
    + ('x' || substr(first_id::text, 16, 3))::bit(12)::integer + place as no) counted
$$;

create view block_entries with (security_invoker = true) as
select b.org_id, b.last_id as block_id, loam_later_entry(b.first_id, e.place - 1) as entry_id, b.at, -e.millis as amount_millis,
  b.balance_millis + b.millis - e.upto as balance_millis, b.reason,
  coalesce(b.details, jsonb_build_object('run_id', b.run_id, 'row_id', e.row_id, 'action', e.kind->>0)) as details,
  'charge'::text as type, b.run_id, b.workflow_id, b.sheet_id, e.row_id, e.kind->>0 as action, e.kind->>1 as action_id, b.member,
  b.key_id, b.trigger, null::uuid as refund_of, b.price_version, coalesce(nullif(e.kind->3, 'null'), '[]') as providers
from credit_blocks b cross join lateral (
  select u.place::integer, u.row_id, k.kind, k.millis, (sum(k.millis) over (order by u.place))::bigint as upto
  from unnest(b.row_ids, b.kind_of) with ordinality as u (row_id, kind_no, place)
  cross join lateral (select b.kinds->u.kind_no::integer as kind, (b.kinds->u.kind_no::integer->>2)::bigint as millis) k
) e;

-- The whole ledger, an entry each.
create view ledger_entries with (security_invoker = true) as
select org_id, entry_id, at, amount_millis, balance_millis, reason, details, type, run_id, workflow_id, sheet_id, row_id, action,
  action_id, member, key_id, trigger, refund_of, price_version, providers from credit_entries
union all
select org_id, entry_id, at, amount_millis, balance_millis, reason, details, type, run_id, workflow_id, sheet_id, row_id, action,
  action_id, member, key_id, trigger, refund_of, price_version, providers from block_entries;

-- Usage equals the ledger because it is counted with its records, by whoever adds them.
create function loam_count_blocks() returns trigger language plpgsql as $$
begin
  with alike as materialized (
    select org_id, (at at time zone 'UTC')::date as day, workflow_id, sheet_id, kind->>1 as action_id, member, key_id, trigger,
      kind->3 as providers, sum((kind->>4)::bigint)::bigint as entries, sum((kind->>2)::bigint * (kind->>4)::bigint)::bigint as millis
    from added, jsonb_array_elements(kinds) kind group by 1, 2, 3, 4, 5, 6, 7, 8, 9
  )
  insert into usage_charges as u (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger,
    credits_millis, refunded_millis)
  select a.org_id, a.day, a.workflow_id, a.sheet_id, a.action_id, part.provider, a.member, a.key_id, a.trigger,
    sum(part.millis), 0
  from alike a cross join lateral (
    select p.provider, round(p.credits * 1000)::bigint * a.entries as millis
    from jsonb_to_recordset(nullif(a.providers, 'null')) as p (provider text, credits numeric)
    union all
    select null, a.millis - coalesce(sum(round(p.credits * 1000)), 0)::bigint * a.entries
    from jsonb_to_recordset(nullif(a.providers, 'null')) as p (provider text, credits numeric)
  ) part
  where part.millis <> 0
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by 1, 2, 3, 4, 5, 6, 7, 8, 9
  on conflict (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger) do update
    set credits_millis = u.credits_millis + excluded.credits_millis;
  return null;
end
$$;
create trigger count_blocks after insert on credit_blocks referencing new table as added
  for each statement execute function loam_count_blocks();

-- What is on its way to the ledger is written as it will be there.
alter table purse_charges add column kinds jsonb, add column row_ids uuid[], add column kind_of smallint[],
  alter column at set default now();
update purse_charges set
  kinds = (select jsonb_agg(jsonb_build_array(e->1, e->2, e->3, e->4, 1) order by n) from jsonb_array_elements(entries) with ordinality as x (e, n)),
  row_ids = (select array_agg((e->>0)::uuid order by n) from jsonb_array_elements(entries) with ordinality as x (e, n)),
  kind_of = (select array_agg((n - 1)::smallint order by n) from jsonb_array_elements(entries) with ordinality as x (e, n));
alter table purse_charges drop column entries, alter column kinds set not null, alter column row_ids set not null,
  alter column kind_of set not null;
