import { nameParameters, type NamedParameters } from '../../../database/connection/named-parameters.ts'
import { CELLS, DATA } from '../../store/flight-row.ts'
import { listRows } from './groups.ts'

/** The fields that a job has besides its row. */
export const OF_JOBS = {
  o: '@orgs::uuid[]',
  t: '@tickets::int[]',
  run: '@runs::uuid[]',
  reads: '@reads::boolean[]',
}

/** Reads unclaimed flights without claiming them. */
export const PEEK: NamedParameters = nameParameters(`
select i.n, f.run_id, ${DATA} as data, case when i.reads or f.run_id is distinct from i.run then ${CELLS} end as cells
from ${listRows(OF_JOBS)}
join flights f on f.org_id = i.o and f.row_id = i.r and f.ticket = i.t and f.attempt = 0
left join rows r on r.org_id = i.o and r.row_id = i.r`)
