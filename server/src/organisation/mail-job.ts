import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { reasonOf } from '../lib/errors.ts'
import { defineJob, type Job } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import type { SendMail } from '../lib/mail.ts'
import { backoff } from '../lib/timing/backoff.ts'
import {
  claimMails,
  endMail,
  failMail,
  forgetMails,
  postponeMail,
  type WaitingMail,
} from './store/mail-outbox.ts'
import { takeMailTurn } from './store/mail-quota.ts'

const AT_ONCE = 20
const MAX_OF_ORG = 5
const CLAIM_SECONDS = 120
const MAX_TRIES = 12
const RETRIES = { firstMs: 2000, maxMs: 3_600_000 }

export type MailParts = {
  store: Store
  sendMail: SendMail | null
  /** The number of mails an hour that an organisation may send over the installation's mail server. */
  mailPerHour: number
  log: Log
}

/** Sends the mails of the outbox within seconds, some of each organisation at once. */
export function mailJob(parts: MailParts): Job {
  const { system } = parts.store
  return defineJob({
    name: 'send_mails',
    everySecond: true,
    payload: z.undefined(),
    async run(_payload, signal) {
      while (!signal.aborted) {
        const mails = await claimMails(system, { limit: AT_ONCE, ofOrg: MAX_OF_ORG, seconds: CLAIM_SECONDS })
        if (mails.length === 0) break
        await Promise.all(mails.map(async (mail) => deliver(parts, mail)))
      }
      await forgetMails(system)
    },
  })
}

async function deliver({ store, sendMail, mailPerHour, log }: MailParts, mail: WaitingMail): Promise<void> {
  const { org_id: orgId, email: to, subject, content: text, tries } = mail
  try {
    if (sendMail === null) throw new Error('no mail server is set (LOAM_SMTP_URL)')
    const turn = await takeMailTurn(store.system, { orgId, runId: null, recipients: 1, perHour: mailPerHour })
    if (!turn.ok) return await postponeMail(store.system, mail, turn.waitMs)
    await sendMail({ to, subject, text })
    await endMail(store.system, mail)
  } catch (cause) {
    const error = reasonOf(cause)
    const isOver = sendMail === null || tries >= MAX_TRIES
    await failMail(store.system, mail, { error, retryMs: isOver ? null : backoff(tries, RETRIES) })
    log.warn(
      { org_id: orgId, error },
      isOver ? 'a mail was given up' : 'a mail was not sent; it is tried again',
    )
  }
}
