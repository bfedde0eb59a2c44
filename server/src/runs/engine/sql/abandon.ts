import { endStopped } from '../../store/former-cells.ts'
import { FENCED, fencedItems } from './fence.ts'

/** Ends flights without a result: the row was stopped, and its cells get their former results back (D84). */
export const ABANDON = `
with mine as materialized (
  select i.n, i.o, i.r from ${fencedItems()} join flights f on ${FENCED}
  order by f.row_id for update of f
), gone as (
  delete from flights f using mine i where f.org_id = i.o and f.row_id = i.r
  returning i.n, f.org_id, f.sheet_id, f.row_id, f.run_id
), ${endStopped('gone')}
select n from gone`
