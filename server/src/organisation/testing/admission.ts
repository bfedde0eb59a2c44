import { createLog } from '#server/lib/log.ts'
import { hashToken } from '#server/lib/security/keys.ts'
import { createKey, type KeyOptions } from '#server/organisation/keys.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import type { Target } from '#test/plumbing/global-setup.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { openStore } from '../../database/connection/db.ts'
import { OPERATOR } from '../store/audit.ts'
import { insertMember } from '../store/members.ts'

export const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 }
export const address = (n: number) => `203.0.113.${n}`

/** Opens a database as two processes do, with an organisation that makes keys. */
export async function openAdmission(target: Target) {
  const { store, databaseUrl } = await makeStore(target)
  const second = openStore({ url: databaseUrl, log: createLog('silent') })
  atEnd(() => second.close())
  const first = { name: 'O', adminEmail: 'a@example.com', initialCredits: 0 }
  const { orgId } = await createOrganisation(store.system, OPERATOR, first)
  let serial = 0
  async function makeKey(options: KeyOptions = {}) {
    serial += 1
    const email = `m${serial}@example.com`
    const member = await insertMember(store.system, orgId, {
      email,
      role: 'member',
      first_name: null,
      last_name: null,
    })
    const { key, record } = await createKey(store.system, OPERATOR, { orgId, member }, options)
    return { email, keyId: record.key_id, visitor: { hash: hashToken(key), address: address(1) } }
  }
  return { store, second, orgId, databaseUrl, makeKey }
}
