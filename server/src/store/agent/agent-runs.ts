import { type Selectable, sql } from 'kysely'
import { newId } from '../../lib/ids.ts'
import { type Db, inTransaction } from '../connection/db.ts'
import type { Schema } from '../connection/schema.ts'
import { lockOrganisation } from '../organisation/organisations.ts'

export type AgentRunRow = Selectable<Schema['agent_runs']>
export type AgentRunKey = Pick<AgentRunRow, 'org_id' | 'agent_run_id'>

export type AgentQuota = {
  perHour: number
  atOnce: number
  /** A run that is older has died with its process and counts no more. */
  maxSeconds: number
}

export type Admitted =
  | { kind: 'admitted'; run: AgentRunKey }
  | { kind: 'busy' }
  | { kind: 'limited'; retryAfter: number }
  | { kind: 'no_credits'; freeMillis: number }

type NewRun = Pick<AgentRunRow, 'org_id' | 'request_id' | 'member_id' | 'key_id' | 'price_millis' | 'prompt'>

/** Begins a run: counted against the quota of its organisation, its price set aside. By the database's clock. */
export async function admitAgentRun(db: Db, run: NewRun, quota: AgentQuota): Promise<Admitted> {
  return inTransaction(db, async (trx) => {
    // By a statement of its own: one that has waited for a lock would count what was there before it waited.
    await lockOrganisation(trx, run.org_id)
    const { rows } = await sql<{
      free: number
      at_once: number
      in_hour: number
      retry_after: number | null
    }>`
      select credits_millis - held_millis as free,
        (select count(*)::int from agent_runs where org_id = ${run.org_id} and state = 'running'
          and started_at > now() - ${quota.maxSeconds} * interval '1 second') as at_once,
        (select count(*)::int from agent_runs where org_id = ${run.org_id}
          and started_at > now() - interval '1 hour') as in_hour,
        (select ceil(extract(epoch from started_at + interval '1 hour' - now()))::int from agent_runs
          where org_id = ${run.org_id} and started_at > now() - interval '1 hour'
          order by started_at desc offset ${quota.perHour - 1} limit 1) as retry_after
      from organisations where org_id = ${run.org_id}`.execute(trx)
    const counts = rows[0]
    if (counts === undefined) throw new Error('the organisation of an agent run is gone')
    if (counts.in_hour >= quota.perHour) {
      return { kind: 'limited', retryAfter: Math.max(1, counts.retry_after ?? 1) }
    }
    if (counts.at_once >= quota.atOnce) return { kind: 'busy' }
    if (counts.free < run.price_millis) return { kind: 'no_credits', freeMillis: counts.free }
    const agent_run_id = newId()
    await trx
      .insertInto('agent_runs')
      .values({ ...run, agent_run_id })
      .execute()
    await changeCredits(trx, run.org_id, { held: run.price_millis, spent: 0 })
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

/** Ends a run once. What it held is charged with its answer, and given back with anything else. False: it had ended. */
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
      .where('state', '=', 'running')
      .returning(['price_millis', 'request_id', 'key_id', 'member_id'])
      .executeTakeFirst()
    if (ended === undefined) return false
    const { price_millis, request_id, key_id, member_id } = ended
    const spent = state === 'answered' ? price_millis : 0
    const balance = await changeCredits(trx, org_id, { held: -price_millis, spent })
    if (spent > 0) {
      await trx
        .insertInto('credit_entries')
        .values({
          org_id,
          entry_id: newId(),
          amount_millis: -spent,
          balance_millis: balance,
          reason: 'agent',
          details: JSON.stringify({ request_id }),
          trigger: 'agent',
          key_id,
          member: sql<
            string | null
          >`(select email from members where org_id = ${org_id} and member_id = ${member_id}::uuid)`,
        })
        .execute()
    }
    return true
  })
}

async function changeCredits(
  db: Db,
  orgId: string,
  change: { held: number; spent: number },
): Promise<number> {
  if (change.held === 0 && change.spent === 0) return 0
  const { credits_millis } = await db
    .updateTable('organisations')
    .set({
      held_millis: sql`held_millis + ${change.held}`,
      credits_millis: sql`credits_millis - ${change.spent}`,
    })
    .where('org_id', '=', orgId)
    .returning('credits_millis')
    .executeTakeFirstOrThrow()
  return credits_millis
}

/** The latest run of that name. */
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
    .limit(1)
    .executeTakeFirst()
}

/** Runs whose process died. */
export async function listDeadAgentRuns(db: Db, maxSeconds: number): Promise<AgentRunKey[]> {
  return db
    .selectFrom('agent_runs')
    .select(['org_id', 'agent_run_id'])
    .where('state', '=', 'running')
    .where('started_at', '<', sql<Date>`now() - ${maxSeconds} * interval '1 second'`)
    .limit(1000)
    .execute()
}

const KEPT = sql<Date>`now() - interval '7 days'`

export async function forgetOldAgentRuns(db: Db): Promise<void> {
  await db.deleteFrom('agent_runs').where('state', '<>', 'running').where('started_at', '<', KEPT).execute()
}
