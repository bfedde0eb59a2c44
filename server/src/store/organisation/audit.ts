import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'

/** Who does something: a person through a key, or the operator through the command line. */
export type Actor = { email: string; keyId: string | null }

export const OPERATOR: Actor = { email: 'operator', keyId: null }

/** Call it inside the transaction of the change it records. `details` never holds a secret. */
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
