import { type Db, inTransaction } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { grantCredits, MILLIS } from '../money/store/credits.ts'
import { createKey } from './keys.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { insertMember, type Member } from './store/members.ts'
import { insertOrganisation } from './store/organisations.ts'

export type NewOrganisation = { name: string; adminEmail: string; initialCredits: number }

/** Creates an organisation with its first administrator, a key with all scopes and its initial credits. */
export async function createOrganisation(
  db: Db,
  actor: Actor,
  wanted: NewOrganisation,
): Promise<{ orgId: string; admin: Member; key: string }> {
  const name = wanted.name.trim()
  if (name === '') throw invalid('name', 'must not be empty')
  return inTransaction(db, async (trx) => {
    const orgId = await insertOrganisation(trx, name)
    const admin = await insertMember(trx, orgId, {
      email: wanted.adminEmail,
      first_name: null,
      last_name: null,
      role: 'admin',
    })
    await recordAudit(trx, orgId, actor, { action: 'organisation.created', target: orgId, details: { name } })
    if (wanted.initialCredits > 0) {
      await grantCredits(trx, orgId, {
        amountMillis: wanted.initialCredits * MILLIS,
        reason: 'initial credits',
      })
    }
    const { key } = await createKey(trx, actor, { orgId, member: admin }, {})
    return { orgId, admin, key }
  })
}
