import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { findBudgetLimits } from '../../money/store/limits/budget-limits.ts'
import { type Refusal, leaseCredits } from '../../money/store/limits/leasing.ts'
import { endLeases } from '../../money/store/limits/posting.ts'

type SourceKey = { org_id: string; instance_id: string }
/** A source locked by `lockClaim`. */
type Claim = SourceKey & { slug: string; held_millis: number }

/**
 * Returns the holder of a pull's reservation: a lease that lasts as long as its page, in every limit that counts it.
 */
const holderOf = ({ instance_id }: SourceKey): string => `source-${instance_id}`

/** Selects the source's owner, to whom its pulls are charged, or null if it has none. */
const ownerOf = ({ org_id, instance_id }: SourceKey) =>
  sql<
    string | null
  >`(select m.email from sources s join members m on m.org_id = s.org_id and m.member_id = s.owner_id
    where s.org_id = ${org_id} and s.instance_id = ${instance_id})`

/** The number of records there are credits for, and the account or budget that has too little for more. */
export type PageHold = { records: number; refusal: Refusal | null }

/**
 * Reserves credits for the next page: as many as there are up to `wanted`, in steps of the price. It replaces an
 * earlier reservation, so a worker that died is not charged for its page. Call it under `lockClaim`.
 */
export async function holdForPage(
  trx: Db,
  claim: Claim,
  { priceMillis, wanted }: { priceMillis: number; wanted: number },
): Promise<PageHold> {
  const { org_id, instance_id } = claim
  if (claim.held_millis > 0) await giveBackReservation(trx, claim)
  const { rows } = await sql<{ member: string | null }>`select ${ownerOf(claim)} as member`.execute(trx)
  const spender = { org_id, run_id: null, key_id: null, workflow_id: null, sheet_id: null }
  const limitIds = await findBudgetLimits(trx, {
    ...spender,
    member: rows[0]?.member ?? null,
    trigger: 'source',
  })
  const leased = await leaseCredits(trx, {
    orgId: org_id,
    limitIds,
    holder: holderOf(claim),
    lasting: true,
    leasesKnown: [],
    needs: Array.from({ length: wanted }, () => ({ more: priceMillis, total: priceMillis })),
    extraMillis: 0,
  })
  const answers = leased.kind === 'leased' ? leased.answers : []
  const records = answers.filter((answer) => answer === 'held').length
  await sql`update sources set held_millis = ${records * priceMillis}::bigint, price_millis = ${priceMillis}::bigint
    where org_id = ${org_id} and instance_id = ${instance_id}`.execute(trx)
  return { records, refusal: answers.find((answer) => answer !== 'held') ?? null }
}

/** Charges new records to the reservation and releases the rest. Call it under `lockClaim`. */
export async function payForPage(
  trx: Db,
  claim: Claim,
  { costMillis, records }: { costMillis: number; records: number },
): Promise<void> {
  const { org_id, instance_id, slug, held_millis } = claim
  if (held_millis === 0) return
  const details = JSON.stringify({ source_instance_id: instance_id, source_id: slug, records })
  if (costMillis > 0)
    await sql`insert into purse_charges (org_id, holder, purse_ids, millis, facts, kinds, row_ids, kind_of)
      select ${org_id}, ${holderOf(claim)}, array_remove(array_agg(purse_id), ${org_id}::uuid), ${costMillis}::bigint,
        jsonb_build_object('reason', 'source', 'details', ${details}::jsonb, 'trigger', 'source', 'member', ${ownerOf(claim)}),
        jsonb_build_array(jsonb_build_array(null, null, ${costMillis}::bigint, null, 1)), array[null]::uuid[], array[0]::smallint[]
      from purse_shares where org_id = ${org_id} and holder = ${holderOf(claim)} having count(*) > 0`.execute(
      trx,
    )
  await giveBackReservation(trx, claim)
}

/** Releases the reservation. What has not been charged is free again. */
export async function giveBackReservation(trx: Db, source: SourceKey): Promise<void> {
  await endLeases(trx, source.org_id, holderOf(source))
}
