import { domainToUnicode } from 'node:url'
import type { Db } from '../database/connection/db.ts'
import { invalid, notFound } from '../lib/errors.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { normaliseIdentifier } from './identifiers.ts'
import { listPartIds, refreshEntities } from './store/entities.ts'
import {
  eraseEntities,
  eraseMentions,
  findPeopleWith,
  findRootsOf,
  listNearAddress,
} from './store/erasure.ts'
import { lockRecords } from './store/record-locks.ts'
import { eraseReasons } from './syncs/store/erasure.ts'

export type Erased = { entity_ids: string[]; mentions: number }

/**
 * Deletes the people and contacts with this address, merged parts and history included, and every mention of the address by
 * others. What remains is the id of each, with nothing under it: readers of changes learn from it that the entity is gone.
 */
export async function erasePerson(db: Db, orgId: string, actor: Actor, address: string): Promise<Erased> {
  const read = normaliseIdentifier('person', 'email', address)
  if ('fault' in read) throw invalid('email', read.fault)
  const spellings = spellingsOf(read.identifier.identifier)
  return db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'exclusive')
    const near = await listNearAddress(trx, orgId, spellings)
    const ids = await listPartIds(trx, orgId, await findPeopleWith(trx, orgId, near, spellings))
    const related = ids.length === 0 ? [] : await eraseEntities(trx, orgId, ids)
    const mentions = await eraseMentions(trx, orgId, near, spellings)
    // The address stays out of the message, and so out of logs.
    if (ids.length === 0 && mentions.length === 0) throw notFound('A person with this address')
    const roots = await findRootsOf(trx, orgId, [...related, ...mentions])
    const changed = roots.map(({ entityId }) => entityId)
    await eraseReasons(trx, orgId, { erased: ids, changed })
    await refreshEntities(trx, orgId, roots, new Set(changed))
    // Ids and counts only: an entry that named the person would be the trace that was to go.
    await recordAudit(trx, orgId, actor, {
      action: 'records.erased',
      target: orgId,
      details: { entity_ids: ids, mentions: mentions.length },
    })
    return { entity_ids: ids, mentions: mentions.length }
  })
}

/** As identifiers are written, and as a text may have it: the domain in its own letters. */
function spellingsOf(email: string): string[] {
  const at = email.lastIndexOf('@') + 1
  return [...new Set([email, email.slice(0, at) + domainToUnicode(email.slice(at))])]
}
