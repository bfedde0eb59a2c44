import { nameParameters } from '../../../../database/connection/named-parameters.ts'
import { CHARGED, LEASE_LOST, LEASES, WHOLE } from '../../../engine/sql/settle.ts'
import { USED } from '../../../engine/sql/usage.ts'
import { testJobs } from '../../../store/cell-tests.ts'
import { CELLS, DATA } from '../../../store/flight-row.ts'

const FENCED = `t.org_id = @org::uuid and t.test_id = @test::uuid and t.ticket = @ticket::int and t.attempt = @attempt::int and t.status = 'running'`

/** Claims a test for this worker, and reads its row and the facts of its sheet. Returns nothing if it has ended or waits for a later job. */
export const CLAIM_TEST = {
  name: 'engine-claim-test',
  text: `
with mine as (
  update cell_tests set status = 'running', attempt = attempt + 1, stalled = stalled + 1
  where org_id = $1 and test_id = $2 and ticket = $3 and result is null
  returning *
)
select t.attempt, t.stalled, t.retries, t.state, t.instance::text as instance, t.sheet_id, t.row_id, t.revision, t.member, t.key_id,
  t.price_version, t.cap_purse_id, s.workflow_id, s.cache_enabled, s.continue_on_fail,
  case when s.cache_since is not null
    then floor(date_part('epoch', least(s.cache_since at time zone 'UTC', t.created_at)) * 1000)::bigint end as fresh_since,
  case when r.row_id is not null then ${DATA} end as data, ${CELLS} as cells
from mine t
cross join lateral (select t.org_id as o, t.row_id as r) i
join sheets s on s.org_id = t.org_id and s.sheet_id = t.sheet_id
left join rows r on r.org_id = t.org_id and r.row_id = t.row_id and s.deleted_at is null and r.seq >= (
  select first_seq from sheet_counters c where c.org_id = t.org_id and c.sheet_id = t.sheet_id)`,
}

/** Gives a test back with a job for later, and what it hands over to the next worker. */
export const PARK_TEST = {
  name: 'engine-park-test',
  ...nameParameters(`
with parked as materialized (
  update cell_tests t set status = @status, ticket = ticket + 1, stalled = 0, retries = @retries::int, state = @state::jsonb
  where ${FENCED}
  returning org_id, test_id, ticket
)
${testJobs('parked', { priority: '1', runAt: `now() + @ms::float8 * interval '1 ms'` })}`),
}

/**
 * Ends a test: its answer, the charge, usage and the entry of the cache are one statement. Returns nothing if another worker has
 * the test. Refused if a lease that pays for it was ended.
 */
export const SETTLE_TEST = {
  name: 'engine-settle-test',
  ...nameParameters(`
with mine as materialized (
  update cell_tests t set status = @status, result = @result::jsonb, outputs = @outputs::jsonb, credits_millis = @millis::bigint,
    state = null
  where ${FENCED}
  returning org_id, sheet_id, test_id
), lease as materialized (${LEASES}
), whole as materialized (
  select case when (select count(*) from lease) = cardinality(@leaseLimits::uuid[]) then exists (select from mine)
    else loam_refuse('${LEASE_LOST}', 'a lease that pays for this test was ended') end as ok
), charged as (${CHARGED}
), used as (${USED}
), remembered as (
  insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs, run_id, credits_millis)
  select org_id, sheet_id, @action, @epoch::int, decode(@key, 'hex'), @outputs::jsonb, null, @millis::bigint
  from mine where @key::text is not null and ${WHOLE}
  on conflict (org_id, sheet_id, action, epoch, key) do update
    set outputs = excluded.outputs, completed_at = excluded.completed_at, run_id = excluded.run_id,
      credits_millis = excluded.credits_millis
)
select 1 as settled from mine where ${WHOLE}`),
}
