import type { Egress } from '../../../lib/egress/egress.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { failed, type Outcome, retry } from '../../outcome.ts'

/**
 * A mail server: the installation's own one, or one that a user gave. Only the guarded client may connect to a user's
 * server.
 */
export type MailServer = { url: string; from: string; givenByUser: boolean }

export type OutgoingMail = {
  to: string[]
  subject: string
  content: { text: string } | { html: string }
  replyTo: string | undefined
  messageId: string
}

export type Delivery = { ok: true; rejected: string[] } | { ok: false; outcome: Outcome<never> }

const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
/** The errors that may pass: the connection broke or could not be opened, and the server refused nothing permanently. */
const MAY_PASS: ReadonlySet<string> = new Set(['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS', 'EPROTOCOL'])

export async function deliverMail(
  server: MailServer,
  mail: OutgoingMail,
  { egress, signal }: { egress: Egress; signal: AbortSignal },
): Promise<Delivery> {
  const at = readServer(server.url)
  if (at === null) {
    const message = 'the mail server must be given as smtp://user:password@host:port, or smtps://'
    return { ok: false, outcome: { kind: 'unrunnable', message } }
  }
  const { host, port, secure, auth } = at
  const opened = server.givenByUser ? await egress.connect({ host, port, signal }) : null
  if (opened?.ok === false) {
    return { ok: false, outcome: opened.retryable ? retry(opened.message) : failed(opened.message) }
  }
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    host,
    port,
    secure,
    ...(auth === undefined ? {} : { auth }),
    ...(opened === null ? {} : { connection: opened.socket }),
    tls: { servername: host },
    disableFileAccess: true,
    disableUrlAccess: true,
    ...TIMEOUTS,
  })
  try {
    const { to, subject, content, replyTo, messageId } = mail
    const info = await transport.sendMail({
      from: server.from,
      // An object is exactly one mailbox. A text could be a list.
      to: to.map((address) => ({ name: '', address })),
      subject,
      messageId,
      ...content,
      ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
    })
    return { ok: true, rejected: info.rejected.map(String) }
  } catch (cause) {
    return { ok: false, outcome: outcomeOfError(cause, auth === undefined ? [] : [auth.pass]) }
  } finally {
    transport.close()
    opened?.socket.destroy()
  }
}

/** Reads the address of a mail server, or returns null if the text is none. */
export function readServer(text: string) {
  const url = URL.parse(text.trim())
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') return null
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const auth = url.username === '' ? undefined : { user: decode(url.username), pass: decode(url.password) }
  return { host, port, secure, auth }
}

/** Decodes percent encoding. A percent sign without two hex digits stays as it is. */
function decode(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  )
}

/** Returns the outcome of a failed delivery: 4xx of SMTP may pass, 5xx is final. */
function outcomeOfError(cause: unknown, secrets: string[]): Outcome<never> {
  if (!(cause instanceof Error)) throw cause
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  const status = 'responseCode' in cause && typeof cause.responseCode === 'number' ? cause.responseCode : 0
  if (code === '' && status === 0) throw cause
  const message = `the mail server did not take it: ${redact(cause.message, secrets).slice(0, 500)}`
  const passes = status === 0 ? MAY_PASS.has(code) : status < 500
  return passes ? retry(message) : failed(message)
}
