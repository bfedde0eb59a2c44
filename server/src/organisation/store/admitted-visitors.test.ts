import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { hashToken, newKey } from '#server/lib/security/keys.ts'
import { targets } from '#test/plumbing/databases.ts'
import { address, LIMITS, openAdmission } from '../testing/admission.ts'
import { admitAll, type Visitor } from './admission.ts'
import { insertSession } from './sessions.ts'

describe.each(targets())('admission on $name', async (target) => {
  const { store, second, orgId, makeKey } = await openAdmission(target)

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
})
