import { type Selectable, sql } from 'kysely'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { newId } from '../../lib/ids.ts'
import { findBudgetLimits } from '../../money/store/limits/budget-limits.ts'
import { type Refusal, leaseCredits } from '../../money/store/limits/leasing.ts'
import { endLeases } from '../../money/store/limits/posting.ts'

export type AgentRunRow = Selectable<Schema['agent_runs']>
export type AgentRunKey = Pick<AgentRunRow, 'org_id' | 'agent_run_id'>

export type AgentQuota = {
  perHour: number
  atOnce: number
  /** The age after which a run no longer counts, because its process must have died. */
  maxSeconds: number
}

export type Admitted =
  | { kind: 'admitted'; run: AgentRunKey }
  | { kind: 'busy' }
  | { kind: 'limited'; retryAfter: number }
  | { kind: 'no_credits'; refusal: Refusal }

type NewRun = Pick<AgentRunRow, 'org_id' | 'request_id' | 'member_id' | 'key_id' | 'price_millis' | 'prompt'>

/**
 * Begins a run: counts it towards the quota of its organisation and reserves its price. Uses the database's
 * clock.
 */
export async function admitAgentRun(db: Db, run: NewRun, quota: AgentQuota): Promise<Admitted> {
  return inTransaction(db, async (trx) => {
    // The lock is taken by a separate statement: a statement that waited for the lock would count the runs
    // from before the wait. The lock is not the organisation's row, which must be locked after limits.
    await takeNamedLock(trx, `agent of ${run.org_id}`)
    const { rows } = await sql<{
      at_once: number
      in_hour: number
      retry_after: number | null
    }>`
      select (select count(*)::int from agent_runs where org_id = ${run.org_id} and state = 'running'
          and started_at > now() - ${quota.maxSeconds} * interval '1 second') as at_once,
        (select count(*)::int from agent_runs where org_id = ${run.org_id}
          and started_at > now() - interval '1 hour') as in_hour,
        (select ceil(extract(epoch from started_at + interval '1 hour' - now()))::int from agent_runs
          where org_id = ${run.org_id} and started_at > now() - interval '1 hour'
          order by started_at desc offset ${sql.lit(quota.perHour - 1)} limit 1) as retry_after`.execute(trx)
    const counts = rows[0]
    if (counts === undefined) throw new Error('a select without a table gave no row')
    if (counts.in_hour >= quota.perHour) {
      return { kind: 'limited', retryAfter: Math.max(1, counts.retry_after ?? 1) }
    }
    if (counts.at_once >= quota.atOnce) return { kind: 'busy' }
    const agent_run_id = newId()
    const refusal = await holdPrice(trx, run, agent_run_id)
    if (refusal !== null) return { kind: 'no_credits', refusal }
    await trx
      .insertInto('agent_runs')
      .values({ ...run, agent_run_id })
      .execute()
    return { kind: 'admitted', run: { org_id: run.org_id, agent_run_id } }
  })
}

export type AgentEnding = {
  model: string | null
  error: string | null
  answer: unknown
  trace: unknown
  spent: unknown
}

/**
 * Ends a run once. Its reservation is charged if there is an answer, and released otherwise. Returns false if
 * the run had already ended.
 */
export async function endAgentRun(
  db: Db,
  { org_id, agent_run_id }: AgentRunKey,
  ending: AgentEnding,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const state = ending.error === null ? 'answered' : 'failed'
    const ended = await trx
      .updateTable('agent_runs')
      .set({
        state,
        model: ending.model,
        error: ending.error,
        answer: JSON.stringify(ending.answer ?? null),
        trace: JSON.stringify(ending.trace ?? null),
        spent: JSON.stringify(ending.spent ?? null),
        ended_at: sql<Date>`now()`,
      })
      .where('org_id', '=', org_id)
      .where('agent_run_id', '=', agent_run_id)
      .where('state', '=', sql.lit('running'))
      .returning(['price_millis', 'request_id', 'key_id', 'member_id'])
      .executeTakeFirst()
    if (ended === undefined) return false
    const holder = nameHolder(agent_run_id)
    if (state === 'answered') await charge(trx, org_id, holder, ended)
    await endLeases(trx, org_id, holder)
    return true
  })
}

/**
 * Returns the holder name of a run's reservation. The reservation is a lease in every limit that counts the
 * run, and lasts as long as the run.
 */
const nameHolder = (agentRunId: string) => `agent-${agentRunId}`

const selectMember = (orgId: string, memberId: string) =>
  sql<string | null>`(select email from members where org_id = ${orgId} and member_id = ${memberId}::uuid)`

async function holdPrice(trx: Db, run: NewRun, agentRunId: string): Promise<Refusal | null> {
  const { org_id, key_id, member_id, price_millis: millis } = run
  if (millis === 0) return null
  const { rows } = await sql<{
    member: string | null
  }>`select ${selectMember(org_id, member_id)} as member`.execute(trx)
  const spender = { org_id, run_id: null, workflow_id: null, sheet_id: null, key_id, trigger: 'agent' }
  const limitIds = await findBudgetLimits(trx, { ...spender, member: rows[0]?.member ?? null })
  const need = { more: millis, total: millis }
  const leased = await leaseCredits(trx, {
    orgId: org_id,
    limitIds,
    holder: nameHolder(agentRunId),
    lasting: true,
    leasesKnown: [],
    needs: [need],
    extraMillis: 0,
  })
  const [answer] = leased.kind === 'leased' ? leased.answers : []
  return answer === undefined || answer === 'held' ? null : answer
}

type Ended = Pick<AgentRunRow, 'price_millis' | 'request_id' | 'key_id' | 'member_id'>

/** Charges the run. The ledger gets the entry when the share is ended. */
async function charge(
  trx: Db,
  orgId: string,
  holder: string,
  { price_millis: millis, request_id, key_id, member_id }: Ended,
): Promise<void> {
  if (millis === 0) return
  await sql`insert into purse_charges (org_id, holder, purse_ids, millis, facts, kinds, row_ids, kind_of)
    select ${orgId}, ${holder}, array_remove(array_agg(purse_id), ${orgId}::uuid), ${millis}::bigint,
      jsonb_build_object('reason', 'agent', 'details', jsonb_build_object('request_id', ${request_id}::text), 'trigger', 'agent',
        'key_id', ${key_id}::text, 'member', ${selectMember(orgId, member_id)}),
      jsonb_build_array(jsonb_build_array(null, null, ${millis}::bigint, null, 1)), array[null]::uuid[], array[0]::smallint[]
    from purse_shares where org_id = ${orgId} and holder = ${holder} having count(*) > 0`.execute(trx)
}

/** Returns the latest run with this request id. */
export async function findAgentRun(
  db: Db,
  orgId: string,
  requestId: string,
): Promise<AgentRunRow | undefined> {
  return db
    .selectFrom('agent_runs')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('request_id', '=', requestId)
    .orderBy('agent_run_id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
}

/** Lists the running runs whose process must have died. */
export async function listDeadAgentRuns(db: Db, maxSeconds: number): Promise<AgentRunKey[]> {
  return db
    .selectFrom('agent_runs')
    .select(['org_id', 'agent_run_id'])
    .where('state', '=', sql.lit('running'))
    .where('started_at', '<', sql<Date>`now() - ${maxSeconds} * interval '1 second'`)
    .limit(sql.lit(1000))
    .execute()
}

const KEPT = sql<Date>`now() - interval '7 days'`

export async function forgetOldAgentRuns(db: Db): Promise<void> {
  await db.deleteFrom('agent_runs').where('state', '<>', 'running').where('started_at', '<', KEPT).execute()
}
