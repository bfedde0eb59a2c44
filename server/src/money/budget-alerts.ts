import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { signDelivery } from '../catalog/http/webhook-signature.ts'
import type { Db, Store } from '../database/connection/db.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { reasonOf } from '../lib/errors.ts'
import { defineJob, type Job } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import type { SendMail } from '../lib/mail.ts'
import { plural } from '../lib/plural.ts'
import { budgetBinding } from '../lib/security/bindings.ts'
import { type Sealer, tryOpen } from '../lib/security/secrets.ts'
import { backoff } from '../lib/timing/backoff.ts'
import { takeMailTurn } from '../organisation/store/mail-quota.ts'
import {
  type BudgetMessage,
  claimBudgetMessages,
  endBudgetMessage,
  postponeBudgetMessage,
  getReceiver,
  type Sending,
} from './store/budget-messages.ts'
import { MILLIS } from './store/credits.ts'

const AT_ONCE = 200
/**
 * The number of messages of one organisation in flight. A receiver that does not answer delays neither the alerts of other
 * organisations nor those to other receivers of its own.
 */
const MAX_OF_ORG = 20
const MAX_OF_RECEIVER = 2
const CLAIM_SECONDS = 60
/** The pause before messages that have become due meanwhile are sent. */
const AGAIN_MS = 500
const MAX_TRIES = 15
const TIMEOUT_MS = 10_000
const RETRIES = { firstMs: 2000, maxMs: 3_600_000 }

export type AlertParts = {
  store: Store
  egress: Pick<Egress, 'fetch'>
  sendMail: SendMail | null
  /**
   * The number of mails an hour that an organisation may send. Anybody chooses the addresses of alerts, but the mail server
   * is the operator's.
   */
  mailPerHour: number
  sealer: Sealer
  log: Log
}

/** The result of a message. `waitMs` means that it was not tried yet. */
type Sent = { error: string | null } | { waitMs: number }

/**
 * Sends the due messages of budget alerts within seconds, and messages that become due meanwhile, until none is left. Each
 * message belongs to one process until it is sent or has failed.
 */
export function budgetAlertJob(parts: AlertParts): Job {
  const { system } = parts.store
  return defineJob({
    name: 'send_budget_alerts',
    everySecond: true,
    payload: z.undefined(),
    async run(_payload, signal) {
      const sending = new Map<BudgetMessage, Promise<void>>()
      const send = async (message: BudgetMessage) => {
        await deliverOrWarn(parts, message, signal)
        sending.delete(message)
      }
      try {
        for (;;) {
          const inFlight = [...sending.keys()]
          const due = signal.aborted ? [] : await claimDue(system, inFlight)
          for (const message of due) sending.set(message, send(message))
          if (due.length === 0 && inFlight.length === 0) return
          // Messages that waited for those in flight may be due now.
          if (sending.size === 0) continue
          await Promise.race([...sending.values(), sleep(AGAIN_MS, undefined, { ref: false })])
        }
      } finally {
        await Promise.all(sending.values())
      }
    },
  })
}

/** Delivers a message. If that fails, it stays claimed for a while, and is then sent again with the same id. */
async function deliverOrWarn(parts: AlertParts, message: BudgetMessage, signal: AbortSignal): Promise<void> {
  try {
    await deliver(parts, message, signal)
  } catch (cause) {
    parts.log.warn(
      { budget_id: message.budget_id, err: cause },
      'could not record the result of a budget alert; it is sent again',
    )
  }
}

function claimDue(db: Db, sending: readonly BudgetMessage[]): Promise<BudgetMessage[]> {
  const counts = new Map<string, Sending>()
  for (const message of sending) {
    const { org_id } = message
    const receiver = getReceiver(message)
    const key = `${org_id} ${receiver}`
    counts.set(key, { org_id, receiver, count: 1 + (counts.get(key)?.count ?? 0) })
  }
  return claimBudgetMessages(db, {
    limit: AT_ONCE - sending.length,
    ofOrg: MAX_OF_ORG,
    ofReceiver: MAX_OF_RECEIVER,
    seconds: CLAIM_SECONDS,
    sending: [...counts.values()],
  })
}

async function deliver(parts: AlertParts, message: BudgetMessage, signal: AbortSignal): Promise<void> {
  const { system } = parts.store
  const sent = await send(parts, message, signal)
  if ('waitMs' in sent) return postponeBudgetMessage(system, message, sent.waitMs)
  const { error } = sent
  const isDone = error === null || message.tries >= MAX_TRIES
  await endBudgetMessage(system, message, {
    error,
    retryMs: isDone ? null : backoff(message.tries, RETRIES),
  })
  if (error !== null) parts.log.warn({ budget_id: message.budget_id, error }, 'a budget alert was not sent')
}

async function send(parts: AlertParts, message: BudgetMessage, signal: AbortSignal): Promise<Sent> {
  try {
    return message.email === null
      ? { error: await postAlert(parts, message, signal) }
      : await mailAlert(parts, message, message.email)
  } catch (cause) {
    return { error: reasonOf(cause) }
  }
}

async function mailAlert(
  { store, sendMail, mailPerHour: perHour }: AlertParts,
  message: BudgetMessage,
  to: string,
): Promise<Sent> {
  if (sendMail === null) return { error: 'no mail server is set (LOAM_SMTP_URL)' }
  const { org_id: orgId } = message
  const turn = await takeMailTurn(store.system, { orgId, runId: null, recipients: 1, perHour })
  if (!turn.ok) return { waitMs: turn.waitMs }
  const { name, threshold, mode, period } = message
  const [spent, limit] = [message.spent_millis / MILLIS, message.limit_millis / MILLIS]
  const isExhausted = threshold >= 100
  const lines = [
    `${spent} of ${plural(limit, 'credit')} of the budget "${name}" are spent${period === 'total' ? '' : ` in this ${period}`}.`,
    mode === 'stop'
      ? isExhausted
        ? 'Cells that would cost more are stopped (out_of_credits). Raise the limit, then resume the runs that the budget stopped.'
        : 'At 100%, cells that would cost more are stopped.'
      : 'Nothing is stopped: the budget only warns.',
  ]
  await sendMail({ to, subject: `Budget ${name}: ${threshold}%`, text: `${lines.join('\n')}\n` })
  return { error: null }
}

/** Posts an alert to its webhook. Returns null if it has arrived, or else the reason. */
export async function postAlert(
  { egress, sealer }: Pick<AlertParts, 'egress' | 'sealer'>,
  message: BudgetMessage,
  signal: AbortSignal,
): Promise<string | null> {
  const {
    webhook_url: url,
    secret_sealed,
    budget_id,
    name,
    scope,
    subject,
    period,
    threshold,
    mode,
  } = message
  if (url === null || secret_sealed === null) return null
  const secret = tryOpen(sealer, secret_sealed, budgetBinding(message))
  if (secret === null) return "the webhook's secret cannot be decrypted with the current LOAM_SECRET"
  const body = JSON.stringify({
    type: 'budget.threshold',
    timestamp: message.at.toISOString(),
    data: {
      budget_id,
      name,
      scope,
      subject,
      period,
      period_start: message.period_start?.toISOString() ?? null,
      threshold,
      limit: message.limit_millis / MILLIS,
      spent: message.spent_millis / MILLIS,
      mode,
    },
  })
  const id = `msg_${message.message_id.replaceAll('-', '')}`
  const headers = {
    'content-type': 'application/json',
    ...signDelivery({ id, body, at: new Date() }, secret),
  }
  const reply = await egress.fetch({ url, method: 'POST', headers, body, timeoutMs: TIMEOUT_MS, signal })
  if (!reply.ok) return reply.message
  return reply.status < 300 ? null : `HTTP ${reply.status}`
}
