/** Gives back what flights held that `gone` has deleted, and locks their organisations in the order of ids for that. */
export const release = (gone: string): string => `payer as (
  select org_id from organisations where org_id in (select o from ${gone} where held_millis > 0)
  order by org_id for no key update
), released as (
  update organisations org set held_millis = org.held_millis - g.held
  from (select o, sum(held_millis) as held from ${gone} group by o) g join payer on payer.org_id = g.o
  where org.org_id = g.o
)`
