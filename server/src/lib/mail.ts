import type { Config } from './config/config.ts'
import { announceCall } from './outside-calls.ts'

export type Mail = { to: string; subject: string; text: string }

/** Sends one mail; rejects with the mail server's reason. */
export type SendMail = (mail: Mail) => Promise<void>

/** The installation's mail server, where one is set, and the sender of its mails. */
export function mailSettings(config: Config): { url: string | undefined; from: string; perHour: number } {
  const host = URL.parse(config.LOAM_PUBLIC_URL ?? '')?.hostname ?? 'localhost'
  return {
    url: config.LOAM_SMTP_URL,
    from: config.LOAM_MAIL_FROM ?? `loam@${host}`,
    perHour: config.LOAM_MAIL_PER_HOUR,
  }
}

/** A sender for an SMTP server, or null when none is configured (D48). */
export function createMailer(options: { url: string | undefined; from: string }): SendMail | null {
  if (options.url === undefined) return null
  const { url, from } = options
  const timeouts = { connectionTimeout: 5000, greetingTimeout: 5000, socketTimeout: 10_000 }
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url, ...timeouts }, { from })
  }
  let opened: ReturnType<typeof open> | undefined
  return async (mail) => {
    announceCall('the mail server')
    opened ??= open()
    const transport = await opened
    // As an object the address is one mailbox; as text it would be a list.
    await transport.sendMail({ ...mail, to: { name: '', address: mail.to } })
  }
}
