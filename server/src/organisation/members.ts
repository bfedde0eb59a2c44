import type { ImpactWarning } from '#contract/members.ts'
import { isRole, type Role, scopesOfRole } from '#contract/scopes.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, forbidden, invalid, notFound, reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { SendMail } from '../lib/mail.ts'
import { invitationBinding } from '../lib/security/bindings.ts'
import { hashToken, randomText } from '../lib/security/keys.ts'
import { type Sealer, tryOpen } from '../lib/security/secrets.ts'
import { assessRemoval } from './impact.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { deleteConnectionsOfMember } from './store/connections.ts'
import {
  consumeInvitation,
  countInvitations,
  deleteInvitation,
  forgetOldInvitations,
  hasInvitation,
  insertInvitation,
  INVITATION_DAYS,
  listInvitations,
  markInvitationSent,
} from './store/invitations.ts'
import { revokeKeysOfMember } from './store/keys.ts'
import { takeMailTurn } from './store/mail-quota.ts'
import {
  countSeats,
  deleteMember,
  findMember,
  insertMember,
  type Member,
  updateRole,
} from './store/members.ts'
import { lockMembers } from './store/organisations.ts'

/** The limit of pending invitations: the list of members contains the link of each. */
const MAX_INVITATIONS = 1000

export type Invite = { email: string; role: string }

export type InviteContext = {
  db: Db
  actor: Actor
  orgId: string
  sealer: Sealer
  sendMail: SendMail | null
  /** The number of mails an organisation may send in an hour. */
  mailPerHour: number
  publicUrl: string
  memberLimit: number | null
  log: Log
  /** Runs once the invitation is recorded. Returns the database handle to continue with. */
  onRecorded?: () => Promise<Db>
}

/** Records the invitation, then tries to mail it. The seat is taken in both cases. */
export async function inviteMember(context: InviteContext, invite: Invite): Promise<{ email_sent: boolean }> {
  const { db, actor, orgId } = context
  const token = randomText(32)
  const organisation = await inTransaction(db, async (trx) => {
    const { name } = await lockAsAdministrator(trx, actor, orgId)
    await requireFreeSeat(trx, orgId, invite.email, context.memberLimit)
    await insertInvitation(trx, orgId, {
      ...invite,
      tokenHash: hashToken(token),
      tokenSealed: context.sealer.seal(token, invitationBinding({ org_id: orgId, email: invite.email })),
      invitedBy: actor.email,
    })
    await recordAudit(trx, orgId, actor, {
      action: 'member.invited',
      target: invite.email,
      details: { role: invite.role },
    })
    return name
  })
  const outside = (await context.onRecorded?.()) ?? db
  const email_sent = await mailInvitation({ ...context, db: outside }, invite, token, organisation)
  if (email_sent) await markInvitationSent(outside, orgId, invite.email)
  return { email_sent }
}

async function mailInvitation(
  context: InviteContext,
  invite: Invite,
  token: string,
  organisation: string,
): Promise<boolean> {
  const { db, orgId, mailPerHour: perHour } = context
  if (context.sendMail === null) return false
  try {
    const turn = await takeMailTurn(db, { orgId, runId: null, recipients: 1, perHour })
    if (!turn.ok) throw new Error('the organisation has reached its limit of mails in an hour')
    await context.sendMail({
      to: invite.email,
      subject: `You are invited to ${organisation} on Loam`,
      text: [
        `${context.actor.email} invites you to ${organisation} on Loam, as ${invite.role}.`,
        `Accept the invitation: ${invitationLink(context.publicUrl, token)}`,
        `The link works for ${INVITATION_DAYS} days.`,
        'If you did not expect this, ignore it: nothing happens until you accept.',
      ].join('\n\n'),
    })
    return true
  } catch (cause) {
    context.log.warn(
      { cause: reasonOf(cause) },
      'the invitation could not be mailed; its link is in `loam invitation list`',
    )
    return false
  }
}

/**
 * Locks the list of members and checks that the actor is still an administrator: if two administrators remove
 * each other at once, the second has lost the role when it gets the lock.
 */
async function lockAsAdministrator(trx: Db, actor: Actor, orgId: string): Promise<{ name: string }> {
  const organisation = await lockMembers(trx, orgId)
  if (actor.keyId === null) return organisation
  const member = await findMember(trx, orgId, actor.email)
  if (scopesOfRole(member?.role ?? '').includes('members:write')) return organisation
  throw forbidden('You are no longer an administrator of this organisation')
}

async function requireFreeSeat(db: Db, orgId: string, email: string, limit: number | null): Promise<void> {
  await forgetOldInvitations(db, orgId)
  if ((await findMember(db, orgId, email)) !== undefined) {
    throw new AppError('ALREADY_MEMBER', `${email} is a member of this organisation already`)
  }
  if (await hasInvitation(db, orgId, email)) {
    throw new AppError(
      'ALREADY_INVITED',
      `${email} has a pending invitation. Revoke it with Remove Member to invite again`,
    )
  }
  if ((await countInvitations(db, orgId)) >= MAX_INVITATIONS) {
    throw new AppError(
      'MEMBER_LIMIT_REACHED',
      `${MAX_INVITATIONS} invitations are pending, which is the limit. Remove some with Remove Member first`,
    )
  }
  if (limit !== null && (await countSeats(db, orgId)) >= limit) {
    throw new AppError(
      'MEMBER_LIMIT_REACHED',
      `${limit === 1 ? 'The one seat is' : `All ${limit} seats are`} taken (pending invitations hold a seat). Remove a member or an invitation first`,
    )
  }
}

/** Adds a member at once, without an invitation. Only the operator may do this. */
export async function addMember(
  db: Db,
  actor: Actor,
  orgId: string,
  { invite, memberLimit }: { invite: Invite; memberLimit: number | null },
): Promise<Member> {
  if (!isRole(invite.role)) throw invalid('role', 'must be one of: admin, member, user')
  return inTransaction(db, async (trx) => {
    await lockMembers(trx, orgId)
    await requireFreeSeat(trx, orgId, invite.email, memberLimit)
    const member = await insertMember(trx, orgId, { ...invite, first_name: null, last_name: null })
    await recordAudit(trx, orgId, actor, {
      action: 'member.added',
      target: invite.email,
      details: { role: invite.role },
    })
    return member
  })
}

export type Names = { first_name: string | null; last_name: string | null }

export type Joined = Member & { org_id: string; isConfirmed: boolean }

/** Turns an invitation into a membership. The token cannot be used again. */
export async function acceptInvitation(
  db: Db,
  token: string,
  names: Names,
  provedEmail?: string,
): Promise<Joined> {
  return inTransaction(db, async (trx) => {
    const joined = await joinByInvitation(trx, { tokenHash: hashToken(token) }, names, provedEmail)
    if (joined === undefined) throw notFound('Invitation')
    return joined
  })
}

/**
 * Uses up an invitation. Returns undefined if there is none, or none any more. Call it in a transaction. The
 * membership is confirmed if the link was only in the mailbox, or if `provedEmail`, an address that the
 * caller has proved to own, is the invited address.
 */
export async function joinByInvitation(
  trx: Db,
  by: Parameters<typeof consumeInvitation>[1],
  names: Names,
  provedEmail?: string,
): Promise<Joined | undefined> {
  const invitation = await consumeInvitation(trx, by)
  if (invitation === undefined) return undefined
  const { org_id, email, role, is_mailed } = invitation
  const isConfirmed = is_mailed || provedEmail === email
  const member = await insertMember(trx, org_id, { email, role, ...names, isConfirmed })
  await recordAudit(
    trx,
    org_id,
    { email, keyId: null },
    { action: 'invitation.accepted', target: email, details: { address_proved: isConfirmed } },
  )
  return { org_id, ...member, isConfirmed }
}

/**
 * Returns the pending invitations with their links, for members who may pass them on. A link is null if its
 * token cannot be opened.
 */
export async function pendingInvitations(db: Db, orgId: string, sealer: Sealer, publicUrl: string) {
  const invitations = await listInvitations(db, orgId)
  return invitations.map(({ token_sealed, ...invitation }) => {
    const { email } = invitation
    const token = tryOpen(sealer, token_sealed, invitationBinding({ org_id: orgId, email }))
    return { ...invitation, link: token === null ? null : invitationLink(publicUrl, token) }
  })
}

export type Removal = { removed: 'member' | 'invitation'; warnings: ImpactWarning[] }

/**
 * Removes a member. Keys are revoked and shared credentials withdrawn before the member is deleted. The
 * impact never blocks the removal.
 */
export async function removeMember(db: Db, actor: Actor, orgId: string, email: string): Promise<Removal> {
  if (email === actor.email) throw invalid('email', 'you cannot remove yourself; another admin must')
  return inTransaction(db, async (trx) => {
    await lockAsAdministrator(trx, actor, orgId)
    const member = await findMember(trx, orgId, email)
    if (member === undefined) {
      if (!(await deleteInvitation(trx, orgId, email))) throw notFound('Member or invitation')
      await recordAudit(trx, orgId, actor, { action: 'invitation.revoked', target: email })
      return { removed: 'invitation', warnings: [] }
    }
    const { warnings, unknownBecause } = await assessRemoval(trx, orgId, member.member_id)
    const keys = await revokeKeysOfMember(trx, orgId, member.member_id)
    const connections = await deleteConnectionsOfMember(trx, orgId, member.member_id)
    await deleteMember(trx, orgId, member.member_id)
    await recordAudit(trx, orgId, actor, {
      action: 'member.removed',
      target: email,
      details: {
        revoked_keys: keys,
        withdrawn_connections: connections,
        ...(unknownBecause === undefined ? {} : { impact_unknown: unknownBecause }),
      },
    })
    return { removed: 'member', warnings }
  })
}

/** Returns what the organisation would lose with a member, without removing anything. */
export async function previewRemoval(db: Db, orgId: string, email: string): Promise<ImpactWarning[]> {
  return inTransaction(db, async (trx) => {
    const member = await findMember(trx, orgId, email)
    if (member === undefined) throw notFound('Member')
    return (await assessRemoval(trx, orgId, member.member_id)).warnings
  })
}

/**
 * Changes the role of a member. Keys and sessions of the member have the scopes of the new role from their
 * next request on.
 */
export async function changeRole(
  db: Db,
  actor: Actor,
  orgId: string,
  { email, role }: { email: string; role: Role },
): Promise<Member> {
  if (email === actor.email) throw invalid('role', 'you cannot change your own role; another admin must')
  return inTransaction(db, async (trx) => {
    await lockAsAdministrator(trx, actor, orgId)
    const member = await findMember(trx, orgId, email)
    if (member === undefined) throw notFound('Member')
    if (member.role === role) return member
    await updateRole(trx, orgId, member.member_id, role)
    const details = { from: member.role, to: role }
    await recordAudit(trx, orgId, actor, { action: 'member.role_changed', target: email, details })
    return { ...member, role }
  })
}

function invitationLink(publicUrl: string, token: string): string {
  return `${publicUrl}/invitations/${token}`
}
