import { randomBytes } from 'node:crypto'
import type { Egress } from '../../../lib/egress/egress.ts'
import type { MailAddress } from './address-syntax.ts'
import { type SmtpReply, startDialogue } from './smtp-dialogue.ts'

/** A mail server's answer about an address. `accepted` only has a meaning if the server refuses other names. */
export type Probe =
  | { kind: 'accepted' | 'accepts_all'; reason: string }
  | { kind: 'refused'; reason: string }
  | {
      kind: 'unknown'
      reason: string
      /** Set if another server of the domain should be tried. */ unreached?: true
    }

const STEP_MS = 8_000
const CONNECT_MS = 8_000

/** Asks one mail server if it would accept mail for the address. No mail is sent: the dialogue ends before any data. */
export async function probeServer(
  egress: Egress,
  server: string,
  { local, domain }: MailAddress,
  signal: AbortSignal,
): Promise<Probe> {
  const { port, name } = egress.smtpProbe
  const opened = await egress.connect({ host: server, port, timeoutMs: CONNECT_MS, signal })
  if (!opened.ok)
    return { kind: 'unknown', reason: `the mail server cannot be reached (${opened.kind})`, unreached: true }
  const { socket } = opened
  const onAbort = () => socket.destroy()
  signal.addEventListener('abort', onAbort, { once: true })
  const dialogue = startDialogue(socket, STEP_MS)
  try {
    const greeting = await dialogue.next()
    if (greeting?.code !== 220)
      return reportUnknown('the mail server did not greet this server', greeting, true)
    const hello = await dialogue.ask(`EHLO ${heloName(name)}`)
    const greeted = hello?.code === 250 ? hello : await dialogue.ask(`HELO ${heloName(name)}`)
    if (greeted?.code !== 250) return reportUnknown('the mail server did not accept this server', greeted)
    const from = await dialogue.ask('MAIL FROM:<>')
    if (from?.code !== 250)
      return reportUnknown('the mail server did not accept a question about an address', from)
    const answer = readRecipientReply(await dialogue.ask(`RCPT TO:<${local}@${domain}>`))
    if (answer.kind !== 'accepted') return answer
    const stranger = `loam-${randomBytes(8).toString('hex')}`
    const other = readRecipientReply(await dialogue.ask(`RCPT TO:<${stranger}@${domain}>`))
    if (other.kind === 'accepted')
      return { kind: 'accepts_all', reason: 'the mail server accepts every name of the domain' }
    if (other.kind === 'refused') return answer
    return {
      kind: 'unknown',
      reason: 'the mail server accepts it, but gives no clear answer about other names',
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    dialogue.close()
  }
}

function reportUnknown(what: string, reply: SmtpReply | null, unreached?: true): Probe {
  const reason = reply === null ? `${what}: no answer in time` : `${what}: ${printReply(reply)}`
  return { kind: 'unknown', reason, ...(unreached === true && reply === null ? { unreached } : {}) }
}

const POLICY =
  /spam|block|black|deny|denied|policy|reputation|spf|rdns|reverse|relay|authenticat|listed|banned|refused by|not permitted|client host/i
const NO_USER =
  /no such|unknown|not exist|doesn.t exist|does not have|unavailable|not found|no mailbox|invalid (recipient|mailbox|user|address)|recipient rejected|user.{0,20}(disabled|inactive)|mailbox.{0,20}(disabled|inactive)/i

/**
 * Reads the reply to RCPT. A refusal counts as one of the mailbox only if its text says so, because servers refuse
 * questions from strangers with the same codes.
 */
function readRecipientReply(reply: SmtpReply | null): Probe {
  if (reply === null) return { kind: 'unknown', reason: 'the mail server gave no answer in time' }
  const { code, text } = reply
  const reason = `the mail server says: ${printReply(reply)}`
  if (code === 250 || code === 251) return { kind: 'accepted', reason: 'the mail server accepts it' }
  if (code >= 400 && code < 500) return { kind: 'unknown', reason: `${reason} (the answer may differ later)` }
  const enhanced = /^\s*(5\.\d{1,3}\.\d{1,3})\b/.exec(text)?.[1] ?? ''
  if (/^5\.(1\.[0-6]|1\.10|2\.1)$/.test(enhanced)) return { kind: 'refused', reason }
  // Microsoft 365 answers this for mailboxes that it does not have: 550 5.4.1 Recipient address rejected: Access denied.
  if (enhanced === '5.4.1' && /recipient address rejected/i.test(text)) return { kind: 'refused', reason }
  if (enhanced !== '' && /^5\.(7|4|3|2\.2)/.test(enhanced) && !NO_USER.test(text))
    return { kind: 'unknown', reason }
  const isAboutUser =
    NO_USER.test(text) || (!POLICY.test(text) && (code === 550 || code === 551 || code === 553))
  return isAboutUser ? { kind: 'refused', reason } : { kind: 'unknown', reason }
}

function printReply({ code, text }: SmtpReply): string {
  return `${code} ${text.replace(/[\s\p{Cc}]+/gu, ' ').trim()}`.slice(0, 200).toWellFormed()
}

/**
 * Returns a host name in the form that EHLO accepts. A bare machine name is not a domain, and an IP address goes in
 * brackets.
 */
function heloName(name: string): string {
  if (/^[\d.]+$/.test(name)) return `[${name}]`
  return /^[a-z0-9.-]{1,253}$/i.test(name) ? name : 'localhost.localdomain'
}
