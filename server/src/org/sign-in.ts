import { AppError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { SendMail } from '../lib/mail.ts'
import { hashToken } from '../lib/security/keys.ts'
import { isSessionToken, newSessionToken } from '../lib/security/session-tokens.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import { type Actor, recordAudit } from '../store/organisation/audit.ts'
import {
  findMemberById,
  listInvitationsOf,
  listMembershipsOf,
  type Member,
} from '../store/organisation/members.ts'
import { insertSession, revokeSessionByToken } from '../store/organisation/sessions.ts'
import {
  consumeSignInLink,
  findSignInLink,
  insertSignInLink,
  LINK_MINUTES,
} from '../store/organisation/sign-in-links.ts'
import { joinByInvitation } from './members.ts'

export type SignInLink = { url: string; expires_at: Date }

/** A link that signs a member in, once. The token is in the answer and nowhere else. */
export async function createSignInLink(
  db: Db,
  actor: Actor,
  orgId: string,
  member: Pick<Member, 'member_id' | 'email'>,
  publicUrl: string,
): Promise<SignInLink> {
  const token = newSessionToken()
  return inTransaction(db, async (trx) => {
    const { expires_at } = await insertSignInLink(trx, {
      token_hash: hashToken(token),
      org_id: orgId,
      member_id: member.member_id,
    })
    await recordAudit(trx, orgId, actor, { action: 'sign_in_link.created', target: member.email })
    return { url: `${publicUrl}/sign-in/${token}`, expires_at }
  })
}

/** Mails whoever has this address a link for each organisation they belong to. Nobody here has it: nothing happens. */
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
    const { url } = await createSignInLink(db, { email, keyId: null }, org_id, member, publicUrl)
    lines.push(`Sign in to ${org_name}: ${url}`)
  }
  await sendMail({
    to: email,
    subject: 'Your link to sign in to Loam',
    text: [
      ...lines,
      `It works once, for ${LINK_MINUTES} minutes.`,
      'If you did not ask for this, ignore it: nobody is signed in without the link.',
    ].join('\n\n'),
  })
}

const goneLink = () =>
  new AppError(
    'Gone',
    'This link was used or has expired. Ask for a new one, or have an administrator make one',
  )

/** Whom the link would sign in. Mail scanners follow links: looking uses nothing up. */
export async function readSignInLink(
  db: Db,
  token: string,
): Promise<{ email: string; organisation: string }> {
  const found = isSessionToken(token) ? await findSignInLink(db, hashToken(token)) : undefined
  if (found === undefined) throw goneLink()
  return found
}

export type NewSession = { token: string; orgId: string; member: Member }
/** The browser that signs in: what it is called, and the token of the session it has until now. */
export type SigningIn = { browser: string; before: string | undefined }

/** Uses the link up for a session. */
export async function signInByLink(db: Db, token: string, signingIn: SigningIn): Promise<NewSession> {
  return inTransaction(db, async (trx) => {
    const link = isSessionToken(token) ? await consumeSignInLink(trx, hashToken(token)) : undefined
    if (link === undefined) throw goneLink()
    const member = await findMemberById(trx, link.org_id, link.member_id)
    if (member === undefined) throw goneLink()
    return startSession(trx, link.org_id, member, signingIn, 'link')
  })
}

export type VerifiedIdentity = { email: string; firstName: string | null; lastName: string | null }

/** Somebody whose address another server vouches for: a member, or one who is invited and joins by this. Null for others. */
export async function signInByIdentity(
  db: Db,
  { email, firstName, lastName }: VerifiedIdentity,
  signingIn: SigningIn,
): Promise<NewSession | null> {
  return inTransaction(db, async (trx) => {
    const [known] = await listMembershipsOf(trx, email)
    if (known !== undefined) return startSession(trx, known.org_id, known, signingIn, 'single sign-on')
    const [invitation] = await listInvitationsOf(trx, email)
    if (invitation === undefined) return null
    const names = { first_name: firstName, last_name: lastName }
    const joined = await joinByInvitation(trx, { orgId: invitation.org_id, email }, names)
    return joined === undefined ? null : startSession(trx, joined.org_id, joined, signingIn, 'single sign-on')
  })
}

/** A new session with a token of its own, in place of the one that the browser had. */
export async function startSession(
  db: Db,
  orgId: string,
  member: Member,
  { browser, before }: SigningIn,
  way: 'link' | 'single sign-on' | 'invitation',
): Promise<NewSession> {
  const token = newSessionToken()
  const key_id = newId()
  return inTransaction(db, async (trx) => {
    if (before !== undefined) await revokeSessionByToken(trx, hashToken(before))
    await insertSession(trx, {
      org_id: orgId,
      key_id,
      member_id: member.member_id,
      hash: hashToken(token),
      browser,
    })
    const actor = { email: member.email, keyId: key_id }
    await recordAudit(trx, orgId, actor, {
      action: 'session.started',
      target: key_id,
      details: { way, browser },
    })
    return { token, orgId, member }
  })
}
