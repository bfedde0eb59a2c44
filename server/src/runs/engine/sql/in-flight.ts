/** Finds the flights that jobs name and that still exist under the ticket of the job. */
export const IN_FLIGHT = `
select i.n from jsonb_to_recordset($1::jsonb) as i (n int, o uuid, r uuid, t int)
join flights f on f.org_id = i.o and f.row_id = i.r and f.ticket = i.t`
