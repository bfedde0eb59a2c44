import type { Config } from './config/config.ts'
import { announceCall } from './outside-calls.ts'

export type Mail = { to: string; subject: string; text: string }

/** Sends one mail. Rejects with the mail server's reason. */
export type SendMail = (mail: Mail) => Promise<void>

/**
 * Returns the URL of the installation's mail server (if one is set), the sender of its mails and the hourly
 * limit.
 */
export function mailSettings(config: Config): { url: string | undefined; from: string; perHour: number } {
  const host = URL.parse(config.LOAM_PUBLIC_URL ?? '')?.hostname ?? 'localhost'
  return {
    url: config.LOAM_SMTP_URL,
    from: config.LOAM_MAIL_FROM ?? `loam@${host}`,
    perHour: config.LOAM_MAIL_PER_HOUR,
  }
}

/** Creates a sender for an SMTP server. Returns null if no server is configured (D48). */
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
    // As an object, the address is one mailbox. As a text, it would be a list.
    await transport.sendMail({ ...mail, to: { name: '', address: mail.to } })
  }
}
