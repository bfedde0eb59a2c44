import { createHash } from 'node:crypto'
import { plural } from '../../lib/plural.ts'
import { deliverMail, type MailServer, readServer } from '../built-in/mail/delivery.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { failed, unrunnable, wait } from '../outcome.ts'
import { output } from '../outputs.ts'
import { describeUnconnected } from '../provider/remedy.ts'
import { smtp } from '../providers/smtp/provider.ts'

const MAIL_SERVER = { id: smtp.id, name: 'a mail server', otherwise: 'set LOAM_SMTP_URL' }
const MAX_RECIPIENTS = 50
const ADDRESS = /^[^\s@<>"(),:;]+@[^\s@<>"(),:;]+$/

export default defineAction({
  id: 'send_email',
  name: 'Send email',
  description: 'Sends an email over SMTP.',
  category: 'messages',
  synonyms: ['mail', 'smtp', 'notify', 'outreach', 'message'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    to: field.text({
      type: 'email',
      required: true,
      label: 'To',
      help: 'The recipient. Separate several with commas.',
      placeholder: 'ada@acme.com',
    }),
    subject: field.text({
      required: true,
      label: 'Subject',
      help: 'The subject line.',
      placeholder: 'A question about Acme',
    }),
    body: field.text({ type: 'promptField', required: true, label: 'Body', help: 'The text of the email.' }),
    format: field.choice(['text', 'html'], {
      labels: { text: 'Plain text', html: 'HTML' },
      default: 'text',
      label: 'Format',
      help: 'Plain text or HTML.',
      details: 'Default text.',
      advanced: true,
    }),
    reply_to: field.text({ type: 'email', label: 'Reply to', help: 'Where replies go.', advanced: true }),
    connection: field.connection({
      provider: MAIL_SERVER,
      label: 'Connection',
      help: 'Your mail server. Leave empty for your only connection, or the mail server of this installation.',
      details: 'A connection `smtp`, by its name.',
      advanced: true,
    }),
  },
  outputs: {
    id: output.text('The Message-ID.'),
    delivered: output.boolean('True if the mail server accepted the message for all recipients.'),
  },
  async run({ inputs, context }) {
    const to = inputs.to.split(/[,;]/).flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
    const wrong = [...to, ...(inputs.reply_to === undefined ? [] : [inputs.reply_to.trim()])].find(
      (address) => !ADDRESS.test(address),
    )
    if (wrong !== undefined) return failed(`"${wrong.slice(0, 100)}" is no email address`)
    if (to.length === 0 || to.length > MAX_RECIPIENTS)
      return failed(`to must name 1 to ${MAX_RECIPIENTS} addresses`)
    const own = await context.keys.own('smtp', inputs.connection)
    if (own === null && inputs.connection !== undefined) {
      return { kind: 'unrunnable', message: `there is no connection "${inputs.connection}" to smtp` }
    }
    const server = chooseServer(own?.fields, context.mail)
    if (server === null) {
      return unrunnable(describeUnconnected(MAIL_SERVER, undefined))
    }
    let replyTo = inputs.reply_to?.trim()
    if (!server.givenByUser) {
      const turn = await context.takeMailTurn(to.length)
      if (!turn.ok) {
        if (to.length > context.mail.perHour)
          return failed(
            `the installation's mail server takes ${plural(context.mail.perHour, 'recipient')} an hour`,
          )
        return wait(turn.waitMs)
      }
      // The installation's server sends only for the member who started the run.
      if (replyTo !== undefined && replyTo.toLowerCase() !== turn.replyTo?.toLowerCase())
        return failed(
          "over the installation's mail server answers go to the member who started the run; for another reply_to connect a mail server of yours",
        )
      replyTo = turn.replyTo ?? undefined
    }
    const hash = createHash('sha256').update(context.cellRun).digest('hex').slice(0, 32)
    const messageId = `<${hash}@${
      server.from
        .split('@')
        .at(-1)
        ?.replace(/[^\w.-]/g, '') || 'loam'
    }>`
    const sent = await deliverMail(
      server,
      {
        to,
        subject: inputs.subject.replace(/[\r\n]+/g, ' '),
        content: inputs.format === 'html' ? { html: inputs.body } : { text: inputs.body },
        replyTo,
        // The id is the same in every try, so that mail servers can recognise a repeated mail.
        messageId,
      },
      context,
    )
    if (!sent.ok) return sent.outcome
    return { kind: 'done', outputs: { id: messageId, delivered: sent.rejected.length === 0 } }
  },
})

function chooseServer(
  own: Readonly<Record<string, string>> | undefined,
  installation: { url: string | undefined; from: string },
): MailServer | null {
  if (own !== undefined) {
    const url = own['url'] ?? own['secret'] ?? ''
    return { url, from: own['from'] ?? senderIn(url) ?? installation.from, givenByUser: true }
  }
  const { url, from } = installation
  return url === undefined ? null : { url, from, givenByUser: false }
}

/** Returns the user of a mail server if it is an address. It is mostly the one that the server sends for. */
function senderIn(url: string): string | undefined {
  const user = readServer(url)?.auth?.user ?? ''
  return ADDRESS.test(user) ? user : undefined
}
