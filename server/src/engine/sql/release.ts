/** Gives back what flights held that `gone` has deleted; to organisations in the order of their ids. */
export const release = (gone: string): string => `released as (
  update organisations org set held_millis = org.held_millis - g.held
  from (select o, sum(held_millis) as held from ${gone} group by o having sum(held_millis) > 0 order by o) g
  where org.org_id = g.o
)`
