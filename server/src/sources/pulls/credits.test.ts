import { describe, expect, it } from 'vitest'
import { getBalance, grantCredits } from '#server/money/store/credits.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { sweepSources } from './sweep.ts'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const paying = await makeSourceApp({ LOAM_PROVIDER_KEY_PAGED: 'platform key' })
const NEVER = new AbortController().signal
const nameAll = (count: number) => itemsOf(count).map(({ name }) => name)

describe('credits (D22)', () => {
  const balanceOf = async (payer: TestOrg) => (await getBalance(paying.app.store.system, payer.orgId)) ?? 0
  const heldBy = async (payer: TestOrg) =>
    (
      await paying.app.store.query<{ held: number }>({
        text: 'select held_millis as held from organisations where org_id = $1',
        values: [payer.orgId],
      })
    )[0]?.held
  const makePayer = async (credits: number) => {
    const payer = await paying.app.makeOrg()
    await paying.app.store.query({
      text: 'update organisations set credits_millis = $2 where org_id = $1',
      values: [payer.orgId, credits * 1000],
    })
    return payer
  }

  it("are charged for new records on the platform's key, with a ledger entry per page", async () => {
    const items = itemsOf(5)
    paying.lists.set('paid', { items })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_tracked', { list: 'paid' })
    await paying.pull(payer, id)
    expect(await balanceOf(payer)).toBe(995_000)
    expect(await heldBy(payer)).toBe(0)
    const entries = await paying.app.store.query<{ amount_millis: number; details: object }>({
      text: `select amount_millis, details from ledger_entries where org_id = $1 and reason = 'source' order by entry_id`,
      values: [payer.orgId],
    })
    expect(entries.map(({ amount_millis }) => amount_millis)).toEqual([-2000, -2000, -1000])
    expect(entries[0]?.details).toEqual({ source_instance_id: id, source_id: 'paged_tracked', records: 2 })
    items[0] = { id: 1, name: 'changed' }
    await paying.set(id, 'next_pull_at = now()')
    await paying.pull(payer, id)
    expect(await balanceOf(payer)).toBe(995_000)
    expect(await paying.show(payer, id)).toMatchObject({
      credits_spent: 5,
      last_pull: { new: 0, updated: 1 },
    })
  })

  it('running out pauses the source; with new credits it continues where it was', async () => {
    paying.lists.set('poor', { items: itemsOf(7), pageSize: 4 })
    const payer = await makePayer(3)
    const id = await paying.create(payer, 'paged_once', { list: 'poor' })
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({
      status: 'paused_out_of_credits',
      lead_count: 3,
      credits_spent: 3,
    })
    expect([await balanceOf(payer), await heldBy(payer)]).toEqual([0, 0])
    await sweepSources(paying.app.store, NEVER)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits' })
    await paying.app.store.system
      .transaction()
      .execute((trx) => grantCredits(trx, payer.orgId, { amountMillis: 2000, reason: 'test' }))
    await sweepSources(paying.app.store, NEVER)
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits', lead_count: 5 })
    await paying.app.store.system
      .transaction()
      .execute((trx) => grantCredits(trx, payer.orgId, { amountMillis: 50_000, reason: 'test' }))
    expect((await payer.call('PATCH', `/sources/${id}/status`, { status: 'active' })).status).toBe(200)
    await paying.pull(payer, id)
    expect(await paying.names(payer, id)).toEqual(nameAll(7))
    expect(await balanceOf(payer)).toBe(48_000)
  })

  it('max_credits is a hard cap, and does not come back with credits', async () => {
    paying.lists.set('limited', { items: itemsOf(9), pageSize: 4 })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_once', { list: 'limited', max_credits: 5.5 })
    await paying.pull(payer, id)
    await sweepSources(paying.app.store, NEVER)
    const state = await paying.show(payer, id)
    expect(state).toMatchObject({ status: 'paused_out_of_credits', lead_count: 5, credits_spent: 5 })
    expect(state.last_error.message).toContain('max_credits of 5.5 is used up')
    expect(await balanceOf(payer)).toBe(995_000)
  })

  it('max_credits of 0 pulls only what is free', async () => {
    paying.lists.set('free', { items: itemsOf(3) })
    const payer = await makePayer(1000)
    const before = paying.asked.length
    const id = await paying.create(payer, 'paged_once', { list: 'free', max_credits: 0 })
    await paying.pull(payer, id)
    expect(await paying.show(payer, id)).toMatchObject({ status: 'paused_out_of_credits', lead_count: 0 })
    expect(paying.asked.length).toBe(before)
    await connectPaged(paying.app, payer)
    const own = await paying.create(payer, 'paged_once', { list: 'free', max_credits: 0 })
    await paying.pull(payer, own)
    expect(await paying.show(payer, own)).toMatchObject({
      status: 'completed',
      lead_count: 3,
      credits_spent: 0,
    })
    expect(await balanceOf(payer)).toBe(1_000_000)
  })

  it('reserved for a page are released if it is refused or the source is paused', async () => {
    paying.lists.set('refused', { items: itemsOf(3), answer: () => ({ status: 503 }) })
    const payer = await makePayer(1000)
    const id = await paying.create(payer, 'paged_once', { list: 'refused' })
    await paying.pull(payer, id)
    expect(await heldBy(payer)).toBe(0)
    paying.lists.set('refused', {
      items: itemsOf(3),
      answer: () => {
        void payer.call('PATCH', `/sources/${id}/status`, { status: 'paused' })
        return null
      },
    })
    await paying.set(id, 'next_pull_at = now()')
    await paying.pull(payer, id)
    await payer.call('PATCH', `/sources/${id}/status`, { status: 'paused' })
    expect([await balanceOf(payer), await heldBy(payer)]).toEqual([
      1_000_000 - (await paying.show(payer, id)).lead_count * 1000,
      0,
    ])
  })
})
