import { KEYED } from '../../store/connection/statement-names.ts'

const ITEMS = `item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int, price bigint)
)`
const ASKING = `item i join flights f on f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run
    and f.ticket = i.t and f.attempt = i.a`

/**
 * Locks the flights of cells about to run, all of them, then the organisations that pay for them. The array reads every flight
 * first: a join may stop at the first one that names an organisation, and the others would be locked after it.
 */
export const LOCK_PAYERS = `${KEYED}
with ${ITEMS}, asking as materialized (
  select i.o from ${ASKING} order by f.row_id for no key update of f
)
select from organisations where org_id = any(array(select o from asking)) order by org_id for no key update`

/**
 * Sets credits aside for cells about to run, in the order they ask, as far as the organisation's free credits reach. Only
 * after LOCK_PAYERS in the same transaction: a statement that waits goes on with what it saw before, and would deal with an
 * outdated version of the organisation that others are waiting at.
 */
export const RESERVE = `${KEYED}
with ${ITEMS}, asking as (
  select i.*, sum(i.price) over (partition by i.o order by i.n) as upto from ${ASKING}
), covered as (
  select i.* from asking i join organisations org on org.org_id = i.o
  where i.upto <= org.credits_millis - org.held_millis
), held as (
  update flights f set held_millis = f.held_millis + i.price
  from covered i where f.org_id = i.o and f.row_id = i.r
  returning i.n, i.o, i.price
), booked as (
  update organisations org set held_millis = org.held_millis + h.price
  from (select o, sum(price) as price from held group by o) h where org.org_id = h.o
)
select i.n, case when i.n = any(array(select n from held)) then 'held'
  when i.n = any(array(select n from asking)) then 'no_credits' else 'lost' end as answer
from item i`
