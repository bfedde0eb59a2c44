-- A row whose cells were charged together is named once: an entry that is of the row of the one before it has its place in `kinds`
-- as -1 for the first, -2 for the second and so on. Of the 18 bytes that an entry took, 16 were the id of its row.
create or replace view block_entries with (security_invoker = true) as
select b.org_id, b.last_id as block_id, loam_later_entry(b.first_id, e.place - 1) as entry_id, b.at, -e.millis as amount_millis,
  b.balance_millis + b.millis - e.upto as balance_millis, b.reason,
  coalesce(b.details, jsonb_build_object('run_id', b.run_id, 'row_id', e.row_id, 'action', e.kind->>0)) as details,
  'charge'::text as type, b.run_id, b.workflow_id, b.sheet_id, e.row_id, e.kind->>0 as action, e.kind->>1 as action_id, b.member,
  b.key_id, b.trigger, null::uuid as refund_of, b.price_version, coalesce(nullif(e.kind->3, 'null'), '[]') as providers
from credit_blocks b
-- Read once: they are stored apart.
cross join lateral (select b.row_ids || '{}'::uuid[] as row_ids offset 0) block
cross join lateral (
  select u.place::integer, block.row_ids[(count(*) filter (where u.kind_no >= 0) over w)::integer] as row_id, k.kind, k.millis,
    (sum(k.millis) over w)::bigint as upto
  from unnest(b.kind_of) with ordinality as u (kind_no, place)
  cross join lateral (select b.kinds->greatest(u.kind_no, -1 - u.kind_no)::integer as kind) kind_of
  cross join lateral (select kind_of.kind, (kind_of.kind->>2)::bigint as millis) k
  window w as (order by u.place)
) e;
