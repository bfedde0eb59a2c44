/**
 * Sets credits aside for cells about to run, in the order they ask, as far as the organisation's free credits reach. Locks
 * flights before organisations, as everything does that locks both.
 */
export const RESERVE = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int, price bigint)
), asking as (
  select i.* from item i join flights f on f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run
    and f.ticket = i.t and f.attempt = i.a
  for update of f
), payer as (
  select org_id, credits_millis - held_millis as free from organisations
  where org_id in (select o from asking) order by org_id for no key update
), covered as (
  select i.* from (select asking.*, sum(price) over (partition by o order by n) as upto from asking) i
  join payer on payer.org_id = i.o where i.upto <= payer.free
), held as (
  update flights f set held_millis = f.held_millis + i.price
  from covered i
  where f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a
  returning i.n, i.o, i.price
), booked as (
  update organisations org set held_millis = org.held_millis + h.price
  from (select o, sum(price) as price from held group by o) h join payer on payer.org_id = h.o
  where org.org_id = h.o
)
select i.n, case when i.n = any(array(select n from held)) then 'held'
  when i.n = any(array(select n from asking except select n from covered)) then 'no_credits' else 'lost' end as answer
from item i`
