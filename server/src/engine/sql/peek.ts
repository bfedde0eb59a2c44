import { CELLS, DATA } from '../../store/runs/flight-row.ts'

/** Reads flights that nobody has claimed yet, without claiming them. */
export const PEEK = `
select i.n, f.run_id, ${DATA} as data, ${CELLS} as cells
from unnest($1::uuid[], $2::uuid[], $3::int[]) with ordinality as i (o, r, t, n)
join flights f on f.org_id = i.o and f.row_id = i.r and f.ticket = i.t and f.attempt = 0
left join rows r on r.org_id = i.o and r.row_id = i.r`
