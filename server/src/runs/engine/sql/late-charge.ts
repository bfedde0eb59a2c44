import { nameParameters, type NamedParameters } from '../../../database/connection/named-parameters.ts'
import { FENCED } from './fence.ts'
import { listRows } from './groups.ts'
import { CHARGED, OF_FLIGHTS, LEASES, WHOLE, WHOLE_OR_REFUSED } from './settle.ts'
import { USED } from './usage.ts'

/**
 * Posts the charge for a call whose flight was dropped while it was made: once, by the fence that the flight had. Cells
 * are not changed. Refused if the flight was not dropped but taken over or settled, or if the leases no longer exist.
 * The parameters are those of `SETTLE`, for one flight.
 */
export const LATE_CHARGE: NamedParameters = nameParameters(`
with mine as materialized (
  delete from dropped_flights f
  using ${listRows(OF_FLIGHTS)}
  where ${FENCED}
  returning i.n
), lease as materialized (${LEASES}
), whole as materialized (${WHOLE_OR_REFUSED}
), charged as (${CHARGED}
), tallied as (
  insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis)
  select o, run, @lane::int, 0, 0, 0, c from jsonb_to_recordset(@tallies::jsonb) as t (o uuid, run uuid, c bigint)
  where ${WHOLE} and exists (select from runs r where r.org_id = o and r.run_id = run)
  on conflict (org_id, run_id, lane) do update set credits_millis = y.credits_millis + excluded.credits_millis
), used as (${USED}
)
select n from mine where ${WHOLE}`)
