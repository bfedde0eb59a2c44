import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError, notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { SendMail } from '../lib/mail.ts'
import { hashToken } from '../lib/security/keys.ts'
import { isSessionToken, newSessionToken } from '../lib/security/session-tokens.ts'
import { joinByInvitation } from './members.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { confirmMember, findMember, findMemberById, listMembershipsOf, type Member } from './store/members.ts'
import { insertSession, revokeSessionByToken, revokeSessions } from './store/sessions.ts'
import { consumeSignInLink, findSignInLink, insertSignInLink, LINK_MINUTES } from './store/sign-in-links.ts'

export type SignInLink = { url: string; expires_at: Date }

type LinkTarget = {
  orgId: string
  member: Pick<Member, 'member_id' | 'email'>
  publicUrl: string
  /**
   * Says whether the link goes only to the mailbox of the member and is shown to nobody else: using it proves the
   * address.
   */
  isMailed?: boolean
}

/** Creates a link that signs a member in once. The token is only in the answer. */
export async function createSignInLink(
  db: Db,
  actor: Actor,
  { orgId, member, publicUrl, isMailed = false }: LinkTarget,
): Promise<SignInLink> {
  const token = newSessionToken()
  return inTransaction(db, async (trx) => {
    const { expires_at } = await insertSignInLink(trx, {
      token_hash: hashToken(token),
      org_id: orgId,
      member_id: member.member_id,
      is_mailed: isMailed,
    })
    await recordAudit(trx, orgId, actor, { action: 'sign_in_link.created', target: member.email })
    return { url: `${publicUrl}/sign-in/${token}`, expires_at }
  })
}

/**
 * Mails a sign-in link for each organisation that the address belongs to. Does nothing for an unknown
 * address.
 */
export async function mailSignInLinks(
  db: Db,
  sendMail: SendMail,
  email: string,
  publicUrl: string,
): Promise<void> {
  const memberships = await listMembershipsOf(db, email)
  if (memberships.length === 0) return
  const lines: string[] = []
  for (const { org_id, org_name, ...member } of memberships) {
    const target = { orgId: org_id, member, publicUrl, isMailed: true }
    const { url } = await createSignInLink(db, { email, keyId: null }, target)
    lines.push(`Sign in to ${org_name}: ${url}`)
  }
  await sendMail({
    to: email,
    subject: 'Your sign-in link for Loam',
    text: [
      ...lines,
      `The link works once, for ${LINK_MINUTES} minutes.`,
      'If you did not request this mail, ignore it: nobody can sign in without the link.',
    ].join('\n\n'),
  })
}

const linkGone = () =>
  new AppError(
    'Gone',
    'This link was used or has expired. Request a new one, or ask an administrator for one',
  )

/**
 * Returns the member that a link would sign in. Reading does not use up the link, because mail scanners
 * follow links.
 */
export async function readSignInLink(
  db: Db,
  token: string,
): Promise<{ email: string; organisation: string }> {
  const found = isSessionToken(token) ? await findSignInLink(db, hashToken(token)) : undefined
  if (found === undefined) throw linkGone()
  return found
}

export type NewSession = { token: string; orgId: string; member: Member }
/** The browser that signs in: its name, and the token of its current session. */
export type SigningIn = { browser: string; before: string | undefined }

/** Starts a session and uses up the link. */
export async function signInByLink(db: Db, token: string, signingIn: SigningIn): Promise<NewSession> {
  return inTransaction(db, async (trx) => {
    const link = isSessionToken(token) ? await consumeSignInLink(trx, hashToken(token)) : undefined
    if (link === undefined) throw linkGone()
    const member = await findMemberById(trx, link.org_id, link.member_id)
    if (member === undefined) throw linkGone()
    const who = { orgId: link.org_id, member, isVerified: link.is_mailed }
    return startSession(trx, who, signingIn, 'link')
  })
}

export type VerifiedIdentity = { email: string; firstName: string | null; lastName: string | null }

/**
 * Starts a session in an organisation chosen by the owner of a proved address. This confirms a membership
 * that was not confirmed yet, and accepts an invitation. Throws 404 if the address is neither a member nor
 * invited.
 */
export async function enterOrganisation(
  db: Db,
  { email, firstName, lastName }: VerifiedIdentity,
  orgId: string,
  { way, ...signingIn }: SigningIn & { way: Way },
): Promise<NewSession> {
  return inTransaction(db, async (trx) => {
    const names = { first_name: firstName, last_name: lastName }
    const member =
      (await findMember(trx, orgId, email)) ?? (await joinByInvitation(trx, { orgId, email }, names, email))
    if (member === undefined) throw notFound('Organisation')
    return startSession(trx, { orgId, member, isVerified: true }, signingIn, way)
  })
}

export type Way = 'link' | 'single sign-on' | 'invitation' | 'switch'
type Entrant = {
  orgId: string
  member: Member
  /** Says whether the person who signs in has proved to own the member's address. */
  isVerified: boolean
}

/** Starts a session with a new token, which replaces the browser's current session. */
export async function startSession(
  db: Db,
  { orgId, member, isVerified }: Entrant,
  { browser, before }: SigningIn,
  way: Way,
): Promise<NewSession> {
  const token = newSessionToken()
  const key_id = newId()
  const { member_id, email } = member
  return inTransaction(db, async (trx) => {
    if (before !== undefined) await revokeSessionByToken(trx, hashToken(before))
    await insertSession(trx, {
      org_id: orgId,
      key_id,
      member_id,
      hash: hashToken(token),
      browser,
      is_verified: isVerified,
    })
    const audit = (action: string, target: string, details: Record<string, unknown>) =>
      recordAudit(trx, orgId, { email, keyId: key_id }, { action, target, details })
    if (isVerified && (await confirmMember(trx, orgId, member_id))) {
      // Before the confirmation anybody with a link could have signed in as this address, so the other
      // sessions end.
      const ended = await revokeSessions(trx, { orgId, memberId: member_id }, { allBut: key_id })
      await audit('membership.confirmed', email, { revoked_sessions: ended.length })
    }
    await audit('session.started', key_id, { way, browser })
    return { token, orgId, member }
  })
}
