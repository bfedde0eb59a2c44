import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { hashToken, newKey } from '#server/lib/security/keys.ts'
import { createKey, endKey, type KeyOptions } from '#server/organisation/keys.ts'
import { removeMember } from '#server/organisation/members.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { openStore, type Store } from '../../database/connection/db.ts'
import { findSheetWithWorkflow } from '../../sheets/store/sheets.ts'
import { admitAll, forgetOldWindows, noteUses, type Visitor } from './admission.ts'
import { OPERATOR } from './audit.ts'
import { expireKey } from './keys.ts'
import { insertMember } from './members.ts'
import { insertSession } from './sessions.ts'

const LIMITS = { perMinute: 1_000_000, perDay: 1_000_000 }
const address = (n: number) => `203.0.113.${n}`

describe.each(targets())('admission on $name', (target) => {
  let store: Store
  let second: Store
  let orgId: string
  let databaseUrl: string

  beforeAll(async () => {
    const made = await makeStore(target)
    databaseUrl = made.databaseUrl
    store = made.store
    second = openStore({ url: made.databaseUrl, log: createLog('silent') })
    orgId = (
      await createOrganisation(store.system, OPERATOR, {
        name: 'O',
        adminEmail: 'a@example.com',
        initialCredits: 0,
      })
    ).orgId
    return () => second.close()
  })

  let serial = 0
  async function makeKey(options: KeyOptions = {}) {
    serial += 1
    const email = `m${serial}@example.com`
    const member = await insertMember(store.system, orgId, {
      email,
      role: 'member',
      first_name: null,
      last_name: null,
    })
    const { key, record } = await createKey(store.system, OPERATOR, orgId, member, options)
    return { email, keyId: record.key_id, visitor: { hash: hashToken(key), address: address(1) } }
  }

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

  describe.each(['alone', 'with others'])('a visitor that comes %s', (company) => {
    const limits = { perMinute: 3, perDay: 5 }
    // Waits if the minute is about to end, which would split the counts.
    beforeEach(async () => {
      const left = 60_000 - (Date.now() % 60_000)
      if (left < 2000) await sleep(left + 50)
    })
    let strangers = 0
    async function admit(visitor: Visitor) {
      strangers += 1
      const stranger = { hash: null, address: `stranger ${company} ${strangers}` }
      const visitors = company === 'alone' ? [visitor] : [stranger, visitor, stranger]
      const admission = (await admitAll(store, visitors, limits))[visitors.indexOf(visitor)]
      if (admission === undefined) throw new Error('no answer')
      return admission
    }
    async function makeSession() {
      const { keyId, email } = await makeKey()
      const member = await store.system
        .selectFrom('api_keys')
        .select('member_id')
        .where('key_id', '=', keyId)
        .executeTakeFirstOrThrow()
      const hash = hashToken(newKey())
      const session = {
        org_id: orgId,
        key_id: newId(),
        member_id: member.member_id ?? '',
        hash,
        browser: '',
        is_verified: false,
      }
      await insertSession(store.system, session)
      return { email, keyId: session.key_id, visitor: { hash, address: address(1) } }
    }
    const change = async (keyId: string, assignment: string) =>
      store.query({ text: `update api_keys set ${assignment} where key_id = $1`, values: [keyId] })

    it.each([
      { what: 'a key', make: async () => makeKey(), minute: 3, day: 5 },
      { what: 'a key of its own limits', make: async () => makeKey({ perMinute: 7 }), minute: 7, day: 5 },
      { what: 'a session', make: makeSession, minute: 60, day: 100 },
    ])('is known by $what', async ({ make, minute, day }) => {
      const { visitor, email, keyId } = await make()
      const admission = await admit(visitor)
      expect(admission).toMatchObject({
        holder: { org_id: orgId, key_id: keyId, email, role: 'member' },
        granted: true,
        minute: { limit: minute, used: 1 },
        day: { limit: day, used: 1 },
        sheet: null,
      })
      expect(admission.minute.resetsAt).toBe((Math.floor(admission.now / 60) + 1) * 60)
      expect(admission.day.resetsAt).toBe((Math.floor(admission.now / 86_400) + 1) * 86_400)
    })

    it.each([
      { what: 'a revoked key', make: makeKey, assignment: 'revoked_at = now()' },
      { what: 'an expired key', make: makeKey, assignment: 'expires_at = now()' },
      { what: 'a key without a member', make: makeKey, assignment: 'member_id = null' },
      { what: 'an idle session', make: makeSession, assignment: `last_used_at = now() - interval '7 days'` },
      { what: 'an expired session', make: makeSession, assignment: 'expires_at = now()' },
    ])('is counted by its address with $what', async ({ make, assignment }) => {
      const { visitor, keyId } = await make()
      await change(keyId, assignment)
      const from = newId()
      for (const [granted, used] of [
        [true, 1],
        [true, 2],
        [true, 3],
        [false, 3],
      ] as const)
        expect(await admit({ ...visitor, address: from })).toMatchObject({
          holder: null,
          isUseDue: false,
          granted,
          minute: { limit: 3, used },
          day: { limit: 5, used },
        })
      expect(await admit({ hash: null, address: from })).toMatchObject({ holder: null, granted: false })
      expect(await admit({ hash: null, address: newId() })).toMatchObject({ holder: null, granted: true })
    })

    it('is refused over a limit, which is not counted, and admitted when the limit is raised', async () => {
      const { visitor, keyId } = await makeKey()
      const ask = async () => {
        const { granted, minute, day } = await admit(visitor)
        return [granted, minute.used, minute.limit, day.used, day.limit]
      }
      for (const used of [1, 2, 3]) expect(await ask()).toEqual([true, used, 3, used, 5])
      expect(await ask()).toEqual([false, 3, 3, 3, 5])
      await change(keyId, 'per_minute = 10')
      expect(await ask()).toEqual([true, 4, 10, 4, 5])
      expect(await ask()).toEqual([true, 5, 10, 5, 5])
      expect(await ask()).toEqual([false, 5, 10, 5, 5])
      await change(keyId, 'per_minute = 2, per_day = 10')
      expect(await ask()).toEqual([false, 5, 2, 5, 10])
      const turn = (column: string) =>
        store.query({
          text: `update rate_windows set ${column} = ${column} - interval '1 day' where bucket = $1`,
          values: [`key ${keyId}`],
        })
      await turn('minute')
      expect(await ask()).toEqual([true, 1, 2, 6, 10])
      await turn('day')
      expect(await ask()).toEqual([true, 2, 2, 1, 10])
      expect(await ask()).toEqual([false, 2, 2, 1, 10])
    })

    it('is counted exactly while others of the same key come to two processes', async () => {
      const { visitor } = await makeKey()
      const asked = Array.from({ length: 30 }, (_, n) =>
        admitAll(
          n % 2 === 0 ? store : second,
          company === 'alone' ? [visitor] : [visitor, { hash: null, address: newId() }],
          { ...LIMITS, perDay: 10 },
        ),
      )
      const granted = (await Promise.all(asked)).map(([first]) => first).filter((first) => first?.granted)
      expect(granted.map((first) => first?.day.used).sort((a = 0, b = 0) => a - b)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
      ])
    })
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
