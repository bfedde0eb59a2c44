import type { ShortcutDetails } from '#contract/shortcuts.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { invalid, notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { findMember } from '../organisation/store/members.ts'
import { lockMembers } from '../organisation/store/organisations.ts'
import {
  findCopy,
  findShortcut,
  insertShortcut,
  lockShortcut,
  type ShortcutRecord,
  updateShortcut,
} from './store/shortcuts.ts'

type Shortcut = Pick<ShortcutRecord, 'org_id' | 'shortcut_id' | 'parent_id'>

/**
 * Unpublishes or archives a shortcut. A copy has its own state in addition to that of its parent: both must
 * allow it to run.
 */
export async function setShortcutState(
  db: Db,
  actor: Actor,
  shortcut: Shortcut,
  state: 'unpublished' | 'archived',
): Promise<ShortcutRecord> {
  const change = state === 'archived' ? { is_archived: true } : { is_published: false }
  return changeShortcut(db, actor, shortcut, { action: `shortcut.${state}`, change })
}

/** Changes name, description and pictures. They are not part of a version: every version shows the latest. */
export async function updateShortcutDetails(
  db: Db,
  actor: Actor,
  shortcut: Shortcut,
  details: Partial<ShortcutDetails>,
): Promise<ShortcutRecord> {
  requireMaster(shortcut, 'change')
  return changeShortcut(db, actor, shortcut, { action: 'shortcut.updated', change: details })
}

async function changeShortcut(
  db: Db,
  actor: Actor,
  shortcut: Shortcut,
  { action, change }: { action: string; change: Parameters<typeof updateShortcut>[2] },
): Promise<ShortcutRecord> {
  return inTransaction(db, async (trx) => {
    await recordAudit(trx, shortcut.org_id, actor, { action, target: shortcut.shortcut_id, details: change })
    await updateShortcut(trx, shortcut, change)
    return requireShortcut(trx, shortcut.org_id, shortcut.shortcut_id)
  })
}

/**
 * Gives a member a copy of their own, or removes it. Repeating a call changes nothing: the copy stays the
 * same.
 */
export async function shareShortcut(
  db: Db,
  actor: Actor,
  shortcut: ShortcutRecord,
  { email, shared }: { email: string; shared: boolean },
): Promise<ShortcutRecord> {
  requireMaster(shortcut, 'share')
  const { org_id } = shortcut
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, org_id)
    const member = await findMember(trx, org_id, email)
    if (member === undefined) throw notFound(`Member ${email}`)
    if (member.member_id === shortcut.creator_id) throw invalid('email', 'is the publisher of this shortcut')
    await lockShortcut(trx, shortcut)
    const known = await findCopy(trx, shortcut, member.member_id)
    if (known === undefined && !shared) throw notFound(`Copy of the shortcut for ${email}`)
    const copy = known ?? (await makeCopy(trx, shortcut, member.member_id))
    await updateShortcut(trx, { org_id, shortcut_id: copy }, { is_published: true, is_archived: !shared })
    await recordAudit(trx, org_id, actor, {
      action: shared ? 'shortcut.shared' : 'shortcut.unshared',
      target: shortcut.shortcut_id,
      details: { email, copy },
    })
    return requireShortcut(trx, org_id, copy)
  })
}

async function makeCopy(db: Db, shortcut: ShortcutRecord, holder_id: string): Promise<string> {
  const { org_id, shortcut_id: parent_id, workflow_id, creator_id, creator_email } = shortcut
  const { name, description, cover_image, icon_emoji } = shortcut
  const shortcut_id = newId()
  await insertShortcut(db, {
    org_id,
    shortcut_id,
    parent_id,
    holder_id,
    workflow_id,
    creator_id,
    creator_email,
    name,
    description,
    cover_image,
    icon_emoji,
  })
  return shortcut_id
}

function requireMaster({ parent_id }: Pick<ShortcutRecord, 'parent_id'>, verb: string): void {
  if (parent_id !== null)
    throw invalid('id', `is a shared copy; ${verb} the original shortcut instead: ${parent_id}`)
}

async function requireShortcut(db: Db, orgId: string, shortcutId: string): Promise<ShortcutRecord> {
  const found = await findShortcut(db, orgId, null, shortcutId)
  if (found === undefined) throw notFound('Shortcut')
  return found
}
