import type { Db } from '../database/connection/db.ts'
import { createOrganisation } from './organisations.ts'
import { OPERATOR } from './store/audit.ts'
import type { Member } from './store/members.ts'

/**
 * Creates an organisation, its administrator and a key with all scopes at the first start on an empty
 * database (D54). `keep` stores the key before the transaction commits, so that no existing key is lost.
 * Returns null on every later start.
 */
export async function bootstrap(
  db: Db,
  wanted: { adminEmail: string; initialCredits: number },
  keep: (key: string) => void,
): Promise<{ orgId: string; admin: Member; key: string } | null> {
  return db.transaction().execute(async (trx) => {
    const first = await trx
      .insertInto('settings')
      .values({ name: 'first_start', value: JSON.stringify(new Date().toISOString()) })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returning('name')
      .executeTakeFirst()
    if (first === undefined) return null
    const made = await createOrganisation(trx, OPERATOR, { name: 'My organisation', ...wanted })
    keep(made.key)
    return made
  })
}
