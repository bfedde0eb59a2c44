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
 * Deletes the people and contacts with this address, including merged parts and history, and every mention of the
 * address in other entities. Only their ids remain, empty, so that readers of changes learn that the entity no longer
 * exists.
 */
export async function erasePerson(db: Db, orgId: string, actor: Actor, address: string): Promise<Erased> {
  const read = normaliseIdentifier('person', 'email', address)
  if ('fault' in read) throw invalid('email', read.fault)
  const spellings = listSpellings(read.identifier.identifier)
  return db.transaction().execute(async (trx) => {
    await lockRecords(trx, orgId, 'exclusive')
    const near = await listNearAddress(trx, orgId, spellings)
    const ids = await listPartIds(trx, orgId, await findPeopleWith(trx, orgId, near, spellings))
    const related = ids.length === 0 ? [] : await eraseEntities(trx, orgId, ids)
    const mentions = await eraseMentions(trx, orgId, near, spellings)
    // The address is not part of the message, so it does not reach logs.
    if (ids.length === 0 && mentions.length === 0) throw notFound('A person with this address')
    const roots = await findRootsOf(trx, orgId, [...related, ...mentions])
    const changed = roots.map(({ entityId }) => entityId)
    await eraseReasons(trx, orgId, { erased: ids, changed })
    await refreshEntities(trx, orgId, roots, new Set(changed))
    // Only ids and counts: an audit entry that named the person would be the trace to be removed.
    await recordAudit(trx, orgId, actor, {
      action: 'records.erased',
      target: orgId,
      details: { entity_ids: ids, mentions: mentions.length },
    })
    return { entity_ids: ids, mentions: mentions.length }
  })
}

/**
 * Returns the spellings of an address: normalised as identifiers are, and with a Unicode domain as texts may have it.
 */
function listSpellings(email: string): string[] {
  const at = email.lastIndexOf('@') + 1
  return [...new Set([email, email.slice(0, at) + domainToUnicode(email.slice(at))])]
}
