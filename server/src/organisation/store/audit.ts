import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'

/** The author of a change: a person with a key or a session, or the operator on the command line. */
export type Actor = { email: string; keyId: string | null; isSession?: boolean }

export const OPERATOR: Actor = { email: 'operator', keyId: null }

/** Records a change. Call it inside the transaction of that change. `details` never holds a secret. */
export async function recordAudit(
  db: Db,
  orgId: string,
  actor: Actor,
  entry: { action: string; target: string; details?: Record<string, unknown> },
): Promise<void> {
  await db
    .insertInto('audit_entries')
    .values({
      org_id: orgId,
      entry_id: newId(),
      actor: actor.email,
      key_id: actor.keyId,
      action: entry.action,
      target: entry.target,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute()
}

export type AuditFilter = {
  before?: string | undefined
  actor?: string | undefined
  action?: string | undefined
}

export type AuditRecord = {
  entry_id: string
  at: Date
  actor: string
  action: string
  target: string
  details: Record<string, unknown>
  key_id: string | null
  last4: string | null
  is_session: boolean | null
}

/**
 * Returns audit entries, latest first; ids are ordered by time. `action` is a complete name, or the part
 * before its dot.
 */
export async function listAudit(
  db: Db,
  orgId: string,
  filter: AuditFilter,
  limit: number,
): Promise<AuditRecord[]> {
  let entries = db
    .selectFrom('audit_entries as a')
    .leftJoin('api_keys as k', (join) =>
      join.onRef('k.org_id', '=', 'a.org_id').onRef('k.key_id', '=', 'a.key_id'),
    )
    .select([
      'a.entry_id',
      'a.at',
      'a.actor',
      'a.action',
      'a.target',
      'a.details',
      'a.key_id',
      'k.last4',
      'k.is_session',
    ])
    .where('a.org_id', '=', orgId)
  if (filter.before !== undefined) entries = entries.where('a.entry_id', '<', filter.before)
  if (filter.actor !== undefined) entries = entries.where('a.actor', '=', filter.actor)
  const { action } = filter
  if (action !== undefined) {
    entries = entries.where((where) =>
      where.or([
        where('a.action', '=', action),
        where.fn<boolean>('starts_with', ['a.action', where.val(`${action}.`)]),
      ]),
    )
  }
  return entries.orderBy('a.entry_id', 'desc').limit(sql.lit(limit)).execute()
}
