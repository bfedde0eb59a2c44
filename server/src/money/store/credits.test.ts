import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { openStore, type Store } from '../../database/connection/db.ts'
import { insertOrganisation } from '../../organisation/store/organisations.ts'
import { getBalance, grantCredits } from './credits.ts'

describe.each(targets())('D22: credits on $name', (target) => {
  let store: Store
  let second: Store

  beforeAll(async () => {
    const made = await makeStore(target)
    store = made.store
    second = openStore({ url: made.databaseUrl, log: createLog('silent') })
    return () => second.close()
  })

  const grant = (orgId: string, amountMillis: number, on = store) =>
    on
      .org(orgId)
      .transaction()
      .execute((trx) => grantCredits(trx, orgId, { amountMillis, reason: 'test' }))
  const ledgerOf = (orgId: string) =>
    store
      .org(orgId)
      .selectFrom('credit_entries')
      .select(['amount_millis', 'balance_millis'])
      .orderBy('entry_id')
      .execute()

  it('a grant returns the new balance and leaves an entry', async () => {
    const orgId = await insertOrganisation(store.system, 'O')
    expect(await getBalance(store.system, orgId)).toBe(0)
    expect(await grant(orgId, 1500)).toBe(1500)
    expect(await grant(orgId, 1)).toBe(1501)
    expect(await grant(orgId, -501)).toBe(1000)
    expect(await getBalance(store.org(orgId), orgId)).toBe(1000)
    expect(await ledgerOf(orgId)).toEqual([
      { amount_millis: 1500, balance_millis: 1500 },
      { amount_millis: 1, balance_millis: 1501 },
      { amount_millis: -501, balance_millis: 1000 },
    ])
  })

  it('ledger and balance are equal after 100 grants of two processes at once, and every running balance adds up', async () => {
    const orgId = await insertOrganisation(store.system, 'O')
    const amounts = Array.from({ length: 100 }, (_, n) => 1 + ((n * 37) % 1000))
    const balances = await Promise.all(
      amounts.map((amount, n) => grant(orgId, amount, n % 2 === 0 ? store : second)),
    )
    const ledger = await ledgerOf(orgId)
    const sum = amounts.reduce((total, amount) => total + amount, 0)
    expect(await getBalance(store.system, orgId)).toBe(sum)
    expect(ledger.reduce((total, entry) => total + entry.amount_millis, 0)).toBe(sum)
    const inOrder = ledger.sort((a, b) => a.balance_millis - b.balance_millis)
    let running = 0
    for (const entry of inOrder) expect(entry.balance_millis).toBe((running += entry.amount_millis))
    expect(balances.sort((a, b) => a - b)).toEqual(inOrder.map((entry) => entry.balance_millis))
  })

  it('the balance never goes below zero, also when many take at once, and a refusal leaves no entry', async () => {
    const orgId = await insertOrganisation(store.system, 'O')
    await grant(orgId, 1000)
    const takes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => grant(orgId, -100, n % 2 === 0 ? store : second)),
    )
    const refused = takes.flatMap((take) => (take.status === 'rejected' ? [take.reason as unknown] : []))
    expect(refused).toHaveLength(20)
    for (const cause of refused) expect(cause).toMatchObject({ code: '23514' })
    expect(await getBalance(store.system, orgId)).toBe(0)
    expect(await ledgerOf(orgId)).toHaveLength(11)
  })

  it('a transaction that fails after its grant leaves neither balance nor entry', async () => {
    const orgId = await insertOrganisation(store.system, 'O')
    const failed = store.system.transaction().execute(async (trx) => {
      await grantCredits(trx, orgId, { amountMillis: 5, reason: 'test' })
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect([await getBalance(store.system, orgId), await ledgerOf(orgId)]).toEqual([0, []])
  })

  it('an organisation that does not exist, or is another one, gets nothing', async () => {
    const [own, other] = [
      await insertOrganisation(store.system, 'O'),
      await insertOrganisation(store.system, 'P'),
    ]
    await expect(grant(newId(), 5)).rejects.toThrow()
    const foreign = store
      .org(own)
      .transaction()
      .execute((trx) => grantCredits(trx, other, { amountMillis: 5, reason: 'test' }))
    await expect(foreign).rejects.toThrow()
    expect(await getBalance(store.system, newId())).toBeUndefined()
    expect(await getBalance(store.org(own), other)).toBeUndefined()
    expect(await getBalance(store.system, other)).toBe(0)
  })
})
