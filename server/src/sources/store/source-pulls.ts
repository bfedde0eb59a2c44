import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { LastPull, SourceFault, SourceStatus, SourceWalk } from '../../database/tables/source-tables.ts'
import type { SourceKey, SourceRecord } from './sources.ts'

/** A source claimed by one worker, valid until its version changes. */
export type Claim = SourceRecord & { now: Date }

/** The lifetime of a claim. A worker renews it several times in this span, so a dead worker is noticed soon. */
export const CLAIM_SECONDS = 30

/**
 * Claims a source whose pull is due, by the database's clock. Only one of any number of workers gets it. The others get
 * the time to look again, or null if there is nothing to wait for.
 */
export async function claimPull(
  db: Db,
  { org_id, instance_id }: SourceKey,
): Promise<{ claim: Claim } | { claim: null; lookAt: Date | null }> {
  const { rows } = await sql<Claim>`
    update sources set version = version + 1, claimed_until = now() + ${CLAIM_SECONDS} * interval '1 second'
    where org_id = ${org_id} and instance_id = ${instance_id} and status = 'active' and next_pull_at <= now()
      and (claimed_until is null or claimed_until <= now())
    returning *, now() as now`.execute(db)
  const [claim] = rows
  if (claim !== undefined) return { claim }
  const { rows: found } = await sql<{ at: Date | null }>`
    select greatest(next_pull_at, claimed_until) as at from sources
    where org_id = ${org_id} and instance_id = ${instance_id} and status = 'active' and next_pull_at is not null`.execute(
    db,
  )
  return { claim: null, lookAt: found[0]?.at ?? null }
}

/** Extends the claim while a page takes long. */
export async function renewClaim(db: Db, { org_id, instance_id, version }: Claim): Promise<void> {
  await sql`update sources set claimed_until = now() + ${CLAIM_SECONDS} * interval '1 second'
    where org_id = ${org_id} and instance_id = ${instance_id} and version = ${version} and status = 'active'`.execute(
    db,
  )
}

/** Locks the source until the transaction ends. Returns undefined if its version has changed since. */
export async function lockClaim(db: Db, { org_id, instance_id, version }: Claim): Promise<Claim | undefined> {
  const { rows } = await sql<Claim>`
    select *, now() as now from sources
    where org_id = ${org_id} and instance_id = ${instance_id} and version = ${version} and status = 'active'
    for no key update`.execute(db)
  return rows[0]
}

export type PullChange = {
  status?: SourceStatus
  walk: SourceWalk | null
  resume?: unknown
  failures: number
  nextPullAt: Date | null
  lastPull?: LastPull
  error: SourceFault | null
  /** The records and changes added, and their cost. */
  leads: number
  changes: number
  spentMillis: number
  /** Set if the worker keeps the claim. */
  keeps: boolean
}

/** Writes the result of a page or of a refusal. Returns the new claim. Call it under `lockClaim`. */
export async function advancePull(db: Db, claim: Claim, change: PullChange): Promise<Claim> {
  const { org_id, instance_id } = claim
  const { walk, resume, lastPull, error } = change
  const { rows } = await sql<Claim>`
    update sources set version = version + 1, status = ${change.status ?? claim.status},
      walk = ${walk === null ? null : JSON.stringify(walk)}::jsonb,
      resume = ${resume === undefined ? sql`resume` : sql`${JSON.stringify(resume)}::jsonb`},
      failures = ${change.failures}::int, next_pull_at = ${change.nextPullAt}::timestamptz,
      last_pull = ${lastPull === undefined ? sql`last_pull` : sql`${JSON.stringify(lastPull)}::jsonb`},
      last_error = ${error === null ? null : JSON.stringify(error)}::jsonb,
      lead_count = lead_count + ${change.leads}::int, change_count = change_count + ${change.changes}::bigint,
      spent_millis = spent_millis + ${change.spentMillis}::bigint, held_millis = 0,
      claimed_until = ${change.keeps ? sql`now() + ${CLAIM_SECONDS} * interval '1 second'` : sql`null::timestamptz`}
    where org_id = ${org_id} and instance_id = ${instance_id}
    returning *, now() as now`.execute(db)
  const [moved] = rows
  if (moved === undefined) throw new Error('a locked source no longer exists')
  return moved
}

/** Lists sources whose job is missing or overdue, as a safety net. */
export async function listOverdueSources(db: Db, lateSeconds: number, limit: number): Promise<SourceKey[]> {
  const { rows } = await sql<SourceKey>`
    select org_id, instance_id from sources
    where status = 'active' and next_pull_at < now() - ${lateSeconds} * interval '1 second'
      and (claimed_until is null or claimed_until < now())
    order by row_number() over (partition by org_id order by next_pull_at), next_pull_at limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows
}

/** Lists sources past their end date (D49), pulling or not. */
export async function listExpiredSources(db: Db, limit: number): Promise<SourceKey[]> {
  const { rows } = await sql<SourceKey>`
    select org_id, instance_id from sources
    where stop_at <= now() and status in ('active', 'paused', 'paused_out_of_credits') limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows
}

/** Lists sources that ran out of credits and can pay for a record again. */
export async function listFundedSources(db: Db, limit: number): Promise<SourceKey[]> {
  const { rows } = await sql<SourceKey>`
    select s.org_id, s.instance_id from sources s join organisations o on o.org_id = s.org_id
    where s.status = 'paused_out_of_credits' and o.credits_millis - o.held_millis >= s.price_millis
      and (s.max_credits_millis is null or s.spent_millis + s.price_millis <= s.max_credits_millis)
    -- In random order, because some run out of credits again at once while a budget is used up.
    order by row_number() over (partition by s.org_id order by random()) limit ${sql.lit(limit)}`.execute(db)
  return rows
}
