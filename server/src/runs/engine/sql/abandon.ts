import { endStopped } from '../../store/former-cells.ts'

/** Ends flights without a result: the row was stopped, and its cells get their former results back (D84). */
export const ABANDON = `
with item as (
  select * from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int)
), mine as materialized (
  select i.n, i.o, i.r from item i join flights f on f.org_id = i.o and f.row_id = i.r
    and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a
  order by f.row_id for update of f
), gone as (
  delete from flights f using mine i where f.org_id = i.o and f.row_id = i.r
  returning i.n, f.org_id, f.sheet_id, f.row_id, f.run_id
), ${endStopped('gone')}
select n from gone`
