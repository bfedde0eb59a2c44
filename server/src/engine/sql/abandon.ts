import { release } from './release.ts'

/** Ends flights without a result, and gives back what they held: the row was stopped. */
export const ABANDON = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int)
), gone as (
  delete from flights f using item i
  where f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a
  returning i.n, i.o, f.held_millis
), ${release('gone')}
select n from gone`
