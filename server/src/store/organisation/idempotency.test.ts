import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { makeStore, targets } from '#test/harness.ts'
import { type Db, openStore, type Store } from '../connection/db.ts'
import { claimCall, forgetOldCalls, type IdempotentCall, releaseCall, settleCall } from './idempotency.ts'
import { insertOrganisation } from './organisations.ts'

describe.each(targets())('D14: an Idempotency-Key on $name', (target) => {
  let store: Store
  let second: Store
  let orgId: string
  let db: Db

  beforeAll(async () => {
    const made = await makeStore(target)
    store = made.store
    second = openStore({ url: made.databaseUrl, log: createLog('silent') })
    orgId = await insertOrganisation(store.system, 'O')
    db = store.org(orgId)
    return () => second.close()
  })

  const makeCall = (call: Partial<IdempotentCall> = {}): IdempotentCall => ({
    orgId,
    memberId: newId(),
    key: randomUUID(),
    fingerprint: Buffer.from('a request'),
    ...call,
  })
  const age = (call: IdempotentCall, interval: string) =>
    store.query({
      text: `update idempotency_keys set created_at = now() - $1::interval where key = $2`,
      values: [interval, call.key],
    })

  it('belongs to the first call; others hear that it is being worked on, then its answer', async () => {
    const call = makeCall()
    expect(await claimCall(db, call)).toEqual({ state: 'ours' })
    expect(await claimCall(db, call)).toEqual({ state: 'in_progress' })
    await settleCall(db, call, 201, '{"answer":"größer"}')
    const done = { state: 'done', status: 201, body: '{"answer":"größer"}' }
    expect([await claimCall(db, call), await claimCall(db, call)]).toEqual([done, done])
  })

  it('belongs to exactly one of 40 calls of two processes that come at once', async () => {
    const call = makeCall()
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) => claimCall((n % 2 === 0 ? store : second).org(orgId), call)),
    )
    expect(claims.filter(({ state }) => state === 'ours')).toHaveLength(1)
    expect(claims.filter(({ state }) => state === 'in_progress')).toHaveLength(39)
  })

  it('with another payload is told apart, before and after the first call is done', async () => {
    const call = makeCall()
    const other = { ...call, fingerprint: Buffer.from('another request') }
    await claimCall(db, call)
    expect(await claimCall(db, other)).toEqual({ state: 'other_payload' })
    await settleCall(db, call, 200, '{}')
    expect(await claimCall(db, other)).toEqual({ state: 'other_payload' })
  })

  it('can be used again once it was given back, and an answer is never given back', async () => {
    const call = makeCall()
    await claimCall(db, call)
    await releaseCall(db, call)
    expect(await claimCall(db, call)).toEqual({ state: 'ours' })
    await settleCall(db, call, 200, '{}')
    await releaseCall(db, call)
    expect(await claimCall(db, call)).toMatchObject({ state: 'done' })
  })

  it('of a process that died is free after two minutes, with any payload, and not before', async () => {
    const call = makeCall()
    const other = { ...call, fingerprint: Buffer.from('another request') }
    await claimCall(db, call)
    await age(call, '119 seconds')
    expect(await claimCall(db, call)).toEqual({ state: 'in_progress' })
    await age(call, '121 seconds')
    expect(await claimCall(db, other)).toEqual({ state: 'ours' })
    expect(await claimCall(db, call)).toEqual({ state: 'other_payload' })
  })

  it('is kept for 24 hours', async () => {
    const [younger, older] = [makeCall(), makeCall()]
    for (const call of [younger, older]) {
      await claimCall(db, call)
      await settleCall(db, call, 200, '{}')
    }
    await age(younger, '23 hours 59 minutes')
    await age(older, '24 hours 1 second')
    await forgetOldCalls(store.system)
    const kept = await db
      .selectFrom('idempotency_keys')
      .select('key')
      .where('key', 'in', [younger.key, older.key])
      .execute()
    expect(kept).toEqual([{ key: younger.key }])
    expect(await claimCall(db, younger)).toMatchObject({ state: 'done' })
    expect(await claimCall(db, older)).toEqual({ state: 'ours' })
  })

  it('past its 24 hours is free even before it is swept away', async () => {
    const call = makeCall()
    await claimCall(db, call)
    await settleCall(db, call, 200, '{}')
    await age(call, '24 hours 1 second')
    expect(await claimCall(db, call)).toEqual({ state: 'ours' })
    expect(await claimCall(db, call)).toEqual({ state: 'in_progress' })
  })

  it('is one matter for each member and each organisation', async () => {
    const call = makeCall()
    const elsewhere = await insertOrganisation(store.system, 'P')
    await claimCall(db, call)
    await settleCall(db, call, 200, '{"secret":true}')
    expect(await claimCall(db, { ...call, memberId: newId() })).toEqual({ state: 'ours' })
    expect(await claimCall(store.org(elsewhere), { ...call, orgId: elsewhere })).toEqual({ state: 'ours' })
    await expect(claimCall(store.org(elsewhere), call)).rejects.toThrow('row-level security')
  })
})
