import { z } from 'zod'
import type { RejectedRow } from '#contract/rows.ts'
import { type Db, isUnavailable, type Store } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { newId } from '../../lib/ids.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { createFairBatcher } from '../../lib/timing/fair-batcher.ts'
import type { Cap } from '../../money/caps.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { type Arrival, arriveOnSheets } from '../arrivals.ts'
import {
  claimKeys,
  type DeliveryResult,
  findAnswers,
  forgetOldKeys,
  nameOfKey,
  type NewDelivery,
  recordDeliveries,
} from './store/webhook-deliveries.ts'

/** A delivery that brings rows to a sheet. */
export type Delivery = {
  sheet: SheetRecord
  /** The limit of what deliveries to the sheet may cost a day. */
  capMillis: number | null
  /** The hash of the id that the sender gave, in hex, or null without one. */
  key: string | null
  data: string[]
  rejected: RejectedRow[]
  /** The excerpt for the record of the delivery: the id and the beginning of the body as they were sent. */
  webhookId: string | null
  body: string
  /** The size of the whole body. */
  bytes: number
}

/** A delivery that was refused. It is only recorded for inspection. */
export type Refusal = { sheet: SheetRecord; refused: Omit<NewDelivery, 'org_id' | 'sheet_id'> }

/** The answer to a delivery, or null if the sheet has been deleted since. */
export type Receipt = (DeliveryResult & { duplicate: boolean; runId: string | null }) | null

type Item = Delivery | Refusal
type Attempt = { receipt: Receipt } | { fault: unknown }

const WEBHOOK = { email: 'webhook', keyId: null }
/** The largest body of deliveries that share transactions. A larger one gets a transaction of its own. */
export const SMALL_DELIVERY = 16_384

/**
 * Accepts deliveries. Many at once share one transaction: ids, rows, runs and records together, so that bursts are
 * accepted at the speed of batched inserts.
 */
export function createWebhookIntake(store: Store) {
  const run = (items: Item[]) => acceptAll(store, items)
  const ownerOf = ({ sheet }: Item) => sheet.org_id
  const small = createFairBatcher<Item, Attempt>({ run, ownerOf, maxItems: 500 })
  const large = createFairBatcher<Item, Attempt>({ run, ownerOf, maxItems: 1 })
  const accept = async (item: Item): Promise<Receipt> => {
    const isSmall = 'refused' in item || item.bytes <= SMALL_DELIVERY
    const attempt = await (isSmall ? small(item) : large(item))
    if ('fault' in attempt) throw attempt.fault
    return attempt.receipt
  }
  return {
    accept: (delivery: Delivery) => accept(delivery),
    async recordRefusal(refusal: Refusal): Promise<void> {
      await accept(refusal)
    },
  }
}

async function acceptAll(store: Store, items: Item[]): Promise<Attempt[]> {
  const together = (some: Item[]) => store.system.transaction().execute((trx) => acceptTogether(trx, some))
  try {
    return (await together(items)).map((receipt) => ({ receipt }))
  } catch (cause) {
    // A delivery that PostgreSQL refuses must not make the others fail.
    if (items.length === 1 || isUnavailable(cause)) throw cause
    const attempts: Attempt[] = []
    for (const item of items) {
      attempts.push(
        await together([item]).then(
          ([receipt = null]) => ({ receipt }),
          (fault: unknown) => ({ fault }),
        ),
      )
    }
    return attempts
  }
}

type Planned = Delivery & SheetKey & { answer: DeliveryResult }

/**
 * Accepts deliveries in one transaction. Ids are claimed before the locks of sheets are taken, as everywhere that rows
 * arrive (database/connection/locks.ts).
 */
async function acceptTogether(trx: Db, items: Item[]): Promise<Receipt[]> {
  const plans = items.map((item) => ('refused' in item ? null : plan(item)))
  const deliveries = plans.filter((planned) => planned !== null)
  const fresh = await findFresh(trx, deliveries)
  const bySheet = [...Map.groupBy(fresh, (planned) => planned.sheet_id).values()]
  const arrived = await arriveOnSheets(trx, bySheet.map(arrivalOf))
  const deletedSheets = new Set(
    bySheet.flatMap((ofSheet, n) => (arrived[n] === null ? [sheetOf(ofSheet).sheet_id] : [])),
  )
  const runs = new Map(bySheet.map((ofSheet, n) => [sheetOf(ofSheet).sheet_id, arrived[n]?.runId ?? null]))
  const isFresh = new Set(fresh)
  const repeated = deliveries.filter((planned) => !isFresh.has(planned))
  const earlier = await findAnswers(trx, repeated.map(keyOf))
  const receipts = plans.map((planned): Receipt => {
    if (planned === null || deletedSheets.has(planned.sheet_id)) return null
    if (isFresh.has(planned))
      return { ...planned.answer, duplicate: false, runId: runs.get(planned.sheet_id) ?? null }
    const answer = earlier.get(nameOfKey(keyOf(planned)))
    // The id was forgotten between the two lookups. A retry will count as new.
    if (answer === undefined) throw new Error('the id of a delivery was forgotten a moment ago')
    return { ...answer, duplicate: true, runId: null }
  })
  await recordDeliveries(
    trx,
    items.flatMap((item, n) => recordOf(item, receipts[n] ?? null)),
  )
  return receipts
}

function plan(delivery: Delivery): Planned {
  const { org_id, sheet_id } = delivery.sheet
  const answer = { row_ids: delivery.data.map(() => newId()), rejected: delivery.rejected }
  return { ...delivery, org_id, sheet_id, answer }
}

const keyOf = ({ org_id, sheet_id, key }: Planned) => ({ org_id, sheet_id, key: key ?? '' })

/**
 * Returns the deliveries that were not accepted before: the first of each id in this batch, unless another transaction
 * had it.
 */
async function findFresh(trx: Db, deliveries: Planned[]): Promise<Planned[]> {
  const first = new Map<string, Planned>()
  for (const planned of deliveries) {
    const name = nameOfKey(keyOf(planned))
    if (planned.key !== null && !first.has(name)) first.set(name, planned)
  }
  const keys = [...first.values()].map((planned) => ({ ...keyOf(planned), answer: planned.answer }))
  const claimed = await claimKeys(trx, keys)
  return deliveries.filter((planned) => {
    const name = nameOfKey(keyOf(planned))
    return planned.key === null || (first.get(name) === planned && claimed.has(name))
  })
}

/** Returns the latest of these deliveries, which has the latest state of the sheet. */
function latestOf(ofSheet: Planned[]): Planned {
  const latest = ofSheet.at(-1)
  if (latest === undefined) throw new Error('a group of deliveries has at least one')
  return latest
}

const sheetOf = (ofSheet: Planned[]): SheetRecord => latestOf(ofSheet).sheet

/** Returns the cap that all deliveries of a day share (M16). */
const capOfDay = ({ sheet_id, capMillis: limitMillis }: Planned): { cap?: Cap } =>
  limitMillis === null ? {} : { cap: { subject: `webhook ${sheet_id}`, limitMillis, each: 'day' } }

function arrivalOf(ofSheet: Planned[]): Arrival {
  return {
    sheet: sheetOf(ofSheet),
    data: ofSheet.flatMap((planned) => planned.data),
    ids: ofSheet.flatMap((planned) => planned.answer.row_ids),
    actor: WEBHOOK,
    trigger: 'webhook',
    run: 'none',
    ...capOfDay(latestOf(ofSheet)),
  }
}

function recordOf(item: Item, receipt: Receipt): NewDelivery[] {
  const { org_id, sheet_id } = item.sheet
  if ('refused' in item) return [{ org_id, sheet_id, ...item.refused }]
  if (receipt === null) return []
  const { webhookId: webhook_id, body } = item
  const { row_ids, rejected, duplicate } = receipt
  const reason = duplicate
    ? 'a repeated id: answered as the first time, without new rows'
    : reasonOf(rejected)
  const accepted = duplicate ? 0 : row_ids.length
  return [{ org_id, sheet_id, status: 200, webhook_id, accepted, rejected: rejected.length, reason, body }]
}

function reasonOf([first, ...others]: RejectedRow[]): string | null {
  if (first === undefined) return null
  const words = `body[${first.index}]: ${first.errors.map((error) => error.message).join('; ')}`
  return others.length === 0 ? words : `${words}; and ${others.length} more`
}

/** Defines the job that forgets ids of deliveries after seven days. Senders give up long before. */
export function webhookSweep(store: Store): Job {
  return defineJob({
    name: 'forget_webhook_ids',
    cron: '23 * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      while (await forgetOldKeys(store.system)) signal.throwIfAborted()
    },
  })
}
