/** Notes, before suspects are run, how many of them are run together. */
export const MARK_TESTED = `
update flights f set tested_in = i.size
from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, run uuid, t int, a int, size int)
where f.org_id = i.o and f.row_id = i.r and f.run_id is not distinct from i.run and f.ticket = i.t and f.attempt = i.a
returning i.n`
