import { describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { hashToken, newKey } from '#server/lib/security/keys.ts'
import { endKey } from '#server/organisation/keys.ts'
import { removeMember } from '#server/organisation/members.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { targets } from '#test/plumbing/databases.ts'
import { openStore } from '../../database/connection/db.ts'
import { findSheetWithWorkflow } from '../../sheets/store/sheets.ts'
import { address, LIMITS, openAdmission } from '../testing/admission.ts'
import { admitAll, forgetOldWindows, noteUses, type Visitor } from './admission.ts'
import { OPERATOR } from './audit.ts'
import { expireKey } from './keys.ts'

describe.each(targets())('admission on $name', async (target) => {
  const { store, second, orgId, databaseUrl, makeKey } = await openAdmission(target)

  it('each request of a batch gets its own answer, in the order of the batch', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => makeKey()))
    const stranger = { hash: hashToken(newKey()), address: address(2) }
    const nobody = { hash: null, address: address(3) }
    const batch = [3, 0, 4, 0, 1, 2, 0].map((n) => keys[n])
    const visitors = [
      stranger,
      ...batch.flatMap((key) => (key === undefined ? [] : [key.visitor])),
      nobody,
      stranger,
    ]
    const admissions = await admitAll(store, visitors, LIMITS)
    expect(admissions.map(({ holder }) => holder?.email ?? null)).toEqual([
      null,
      ...batch.map((key) => key?.email),
      null,
      null,
    ])
    expect(admissions.map(({ minute }) => minute.used)).toEqual([1, 1, 1, 1, 2, 1, 1, 3, 1, 2])
    expect(admissions.every(({ granted }) => granted)).toBe(true)
    expect(admissions[1]?.holder).toEqual({
      org_id: orgId,
      key_id: keys[3]?.keyId,
      member_id: expect.any(String),
      email: keys[3]?.email,
      role: 'member',
      scopes: null,
      is_session: false,
      allowed_workflow_ids: null,
    })
  })

  it('a batch of 500, the maximum, is admitted as a whole', async () => {
    const { visitor } = await makeKey()
    const admissions = await admitAll(store, Array<Visitor>(500).fill(visitor), { ...LIMITS, perDay: 400 })
    expect(admissions.map(({ granted }) => granted)).toEqual(Array.from({ length: 500 }, (_, n) => n < 400))
    expect(admissions.slice(0, 400).map(({ day }) => day.used)).toEqual(
      Array.from({ length: 400 }, (_, n) => n + 1),
    )
    expect(admissions.at(-1)?.day).toMatchObject({ limit: 400, used: 400 })
  })

  it('a revoked key, an expired one and the key of a removed member are invalid', async () => {
    const revoked = await makeKey()
    const expired = await makeKey({ expiresAt: new Date(Date.now() + 3_600_000) })
    const removed = await makeKey()
    const living = await makeKey({ expiresAt: new Date(Date.now() + 3_600_000), scopes: ['workflows:read'] })
    const ask = async () =>
      (
        await admitAll(
          store,
          [revoked, expired, removed, living].map(({ visitor }) => visitor),
          LIMITS,
        )
      ).map(({ holder }) => holder?.email)
    expect(await ask()).toEqual([revoked.email, expired.email, removed.email, living.email])
    await endKey(store.system, OPERATOR, revoked.keyId)
    await expireKey(store.system, expired.keyId, new Date())
    await removeMember(store.system, OPERATOR, orgId, removed.email)
    expect(await ask()).toEqual([undefined, undefined, undefined, living.email])
  })

  it('D9: exact when many batches of two processes count the same keys at once, without a deadlock', async () => {
    const keys = await Promise.all(Array.from({ length: 6 }, () => makeKey()))
    const limits = { ...LIMITS, perDay: 100 }
    const batches = Array.from({ length: 60 }, (_, n) => {
      // Each batch holds the keys in another order: without a fixed lock order two batches would deadlock.
      const order = keys.map((_key, k) => keys[(k * (n % 2 === 0 ? 1 : 5) + n) % keys.length]?.visitor)
      return [...order, ...order].filter((visitor) => visitor !== undefined)
    })
    const admissions = await Promise.all(
      batches.map((batch, n) => admitAll(n % 2 === 0 ? store : second, batch, limits)),
    )
    for (const { email } of keys) {
      const own = admissions.flat().filter(({ holder }) => holder?.email === email)
      const granted = own.filter((admission) => admission.granted)
      expect([own.length, granted.length]).toEqual([120, 100])
      expect(granted.map(({ day }) => day.used).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 100 }, (_, n) => n + 1),
      )
    }
  })

  it('a refused request is not counted, and a new window starts at zero', async () => {
    const { visitor, keyId } = await makeKey({ perMinute: 5 })
    await admitAll(store, Array<Visitor>(9).fill(visitor), LIMITS)
    await store.query({
      text: `update rate_windows set minute = minute - interval '1 minute' where bucket = $1`,
      values: [`key ${keyId}`],
    })
    const [next] = await admitAll(store, [visitor], LIMITS)
    expect(next).toMatchObject({ granted: true, minute: { limit: 5, used: 1 }, day: { used: 6 } })
    await store.query({
      text: `update rate_windows set minute = minute - interval '1 day', day = day - interval '1 day' where bucket = $1`,
      values: [`key ${keyId}`],
    })
    expect(await admitAll(store, [visitor], LIMITS)).toMatchObject([
      { minute: { used: 1 }, day: { used: 1 } },
    ])
  })

  it('windows end at the full minute and at midnight UTC', async () => {
    const { visitor } = await makeKey()
    const [admission] = await admitAll(store, [visitor], LIMITS)
    const { minute, day, now = 0 } = admission ?? {}
    expect([minute?.resetsAt, day?.resetsAt]).toEqual([
      (Math.floor(now / 60) + 1) * 60,
      (Math.floor(now / 86_400) + 1) * 86_400,
    ])
    expect(Math.abs(now - Date.now() / 1000)).toBeLessThan(60)
  })

  it('the last use of a key is kept, at most once in 10 seconds', async () => {
    const { visitor, keyId } = await makeKey()
    const other = await makeKey()
    const lastUse = async () =>
      (
        await store.query<{ at: Date }>({
          text: `select last_used_at as at from api_keys where key_id = $1`,
          values: [keyId],
        })
      )[0]?.at
    const isUseDue = async () => (await admitAll(store, [visitor], LIMITS))[0]?.isUseDue
    expect([await lastUse(), await isUseDue()]).toEqual([null, true])
    await noteUses(store, [keyId, keyId, other.keyId])
    const first = await lastUse()
    expect(first).toBeInstanceOf(Date)
    expect(await isUseDue()).toBe(false)
    await noteUses(store, [keyId])
    expect(await lastUse()).toEqual(first)
    await store.query({
      text: `update api_keys set last_used_at = now() - interval '11 seconds' where key_id = $1`,
      values: [keyId],
    })
    expect(await isUseDue()).toBe(true)
    await noteUses(store, [keyId])
    expect(await lastUse()).not.toEqual(first)
  })

  it('a batch does not wait for a key that is being changed', async () => {
    const [changing, other] = [await makeKey(), await makeKey()]
    await store.system.transaction().execute(async (trx) => {
      await trx.updateTable('api_keys').set({ per_day: 5 }).where('key_id', '=', changing.keyId).execute()
      const admissions = await admitAll(second, [changing.visitor, other.visitor], LIMITS)
      expect(admissions.map(({ holder }) => holder?.email)).toEqual([changing.email, other.email])
      await noteUses(second, [changing.keyId, other.keyId])
    })
    const admissions = await admitAll(store, [changing.visitor, other.visitor], LIMITS)
    expect(admissions.map(({ isUseDue }) => isUseDue)).toEqual([true, false])
  })

  it('commits without waiting for the disk, unlike other statements', async () => {
    const { visitor } = await makeKey()
    const single = openStore({ url: databaseUrl, log: createLog('silent'), connections: 1 })
    await admitAll(single, [visitor], LIMITS)
    expect(await single.query({ text: 'show synchronous_commit' })).toEqual([{ synchronous_commit: 'on' }])
    await single.close()
  })

  it('the sheet of the path is found with the key, in its own organisation only', async () => {
    const { visitor, email } = await makeKey()
    const other = await createOrganisation(store.system, OPERATOR, {
      name: 'P',
      adminEmail: 'p@example.com',
      initialCredits: 0,
    })
    const sheetOf = async (org: string) => {
      const workflowId = newId()
      await store.query({
        text: `with w as (insert into workflows (org_id, workflow_id, name) values ($1, $2, 'W') returning org_id, workflow_id)
          insert into sheets (org_id, sheet_id, workflow_id, name, position) select org_id, workflow_id, workflow_id, 'S', 0 from w`,
        values: [org, workflowId],
      })
      return { workflowId, sheetId: workflowId }
    }
    const [own, foreign, absent] = [await sheetOf(orgId), await sheetOf(other.orgId), newId()]
    const stranger = { hash: hashToken(newKey()), address: address(2), sheet: own }
    const asked = [own, foreign, { ...own, sheetId: absent }, { ...own, workflowId: absent }, null]
    const admissions = await admitAll(
      store,
      [stranger, ...asked.map((sheet) => ({ ...visitor, sheet })), visitor],
      LIMITS,
    )
    expect(admissions.map(({ holder }) => holder?.email ?? null)).toEqual([null, ...Array(6).fill(email)])
    expect(admissions.map(({ sheet }) => sheet?.sheet.sheet_id ?? null)).toEqual([
      null,
      own.sheetId,
      null,
      null,
      null,
      null,
      null,
    ])
    const found = await findSheetWithWorkflow(
      store.system,
      { orgId, memberId: admissions[1]?.holder?.member_id ?? '' },
      own,
    )
    expect(admissions[1]?.sheet).toEqual(found)
    await store.query({
      text: 'update sheets set deleted_at = now() where sheet_id = $1',
      values: [own.sheetId],
    })
    expect((await admitAll(store, [{ ...visitor, sheet: own }], LIMITS))[0]?.sheet).toBeNull()
  })

  it('counts of earlier days are swept away, those of today are kept', async () => {
    const [old, current] = [newId(), newId()]
    await admitAll(
      store,
      [
        { hash: null, address: old },
        { hash: null, address: current },
      ],
      LIMITS,
    )
    await store.query({
      text: `update rate_windows set day = day - interval '1 day', minute = minute - interval '1 day' where bucket = $1`,
      values: [`address ${old}`],
    })
    await forgetOldWindows(store)
    const left = await store.query<{ bucket: string }>({
      text: 'select bucket from rate_windows where bucket = any($1)',
      values: [[`address ${old}`, `address ${current}`]],
    })
    expect(left).toEqual([{ bucket: `address ${current}` }])
  })
})
