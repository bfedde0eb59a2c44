import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hashToken } from '#server/lib/security/keys.ts'
import { endKey } from '#server/organisation/keys.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp({ settings: { LOAM_STREAMS_PER_KEY: '3', LOAM_STREAMS_PER_ORG: '5' } })
const address = await app.api.listen({ host: '127.0.0.1', port: 0 })

/** Opens a stream and reports whether the server has ended it. */
async function open(path: string, key: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${address}/api/v1${path}/changes`, { headers, signal: leaving.signal })
  const state = { status: answer.status, isEnded: false, leave: () => leaving.abort() }
  const drain = async () => {
    for await (const _chunk of answer.body ?? []) continue
    state.isEnded = true
  }
  if (answer.ok) drain().catch(() => undefined)
  return state
}

describe('streams of changes', () => {
  it('are 429 beyond the limit of a key, and of an organisation; one that is left makes room', async () => {
    const org = await app.makeOrg()
    const path = await makeRowSheet(org)
    const other = await org.keyFor(org.adminEmail, 'admin')
    const mine = [await open(path, org.key), await open(path, org.key), await open(path, org.key)]
    expect(mine.map(({ status }) => status)).toEqual([200, 200, 200])
    const refused = await app.call(org.key, 'GET', `${path}/changes`)
    expect([refused.status, refused.body.message, refused.headers['retry-after']]).toEqual([
      429,
      'This API key has 3 streams open, which is the limit. Close one, or try again later',
      '10',
    ])
    expect([(await open(path, other)).status, (await open(path, other)).status]).toEqual([200, 200])
    expect((await app.call(other, 'GET', `${path}/changes`)).body.message).toContain('organisation has 5')
    mine[0]?.leave()
    await expect.poll(async () => (await open(path, org.key)).status).toBe(200)
  })

  it('whose readers leave at once leave nothing behind', async () => {
    const org = await app.makeOrg()
    const path = await makeRowSheet(org)
    const { hostname, port } = new URL(address)
    const leaveAtOnce = () =>
      new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(
            `GET /api/v1${path}/changes HTTP/1.1\r\nhost: loam\r\nauthorization: Bearer ${org.key}\r\n\r\n`,
            () => socket.destroy(),
          )
        })
        socket.on('error', () => undefined)
        socket.on('close', () => resolve())
      })
    for (let n = 0; n < 60; n += 1) await leaveAtOnce()
    // All places are free again, and a change reaches no reader.
    await expect
      .poll(async () => {
        const all = [await open(path, org.key), await open(path, org.key), await open(path, org.key)]
        for (const { leave } of all) leave()
        return all.map(({ status }) => status)
      })
      .toEqual([200, 200, 200])
    await expect.poll(() => app.store.changes.watched()).toBe(0)
  })

  it('end when the key is revoked or expires, sharing ends or the sheet is deleted', async () => {
    const org = await app.makeOrg()
    const path = await makeRowSheet(org)
    const orgId = org.orgId
    const db = app.store.system
    const shared = await makeRowSheet(org)
    const sharedId = shared.split('/')[2] ?? ''
    const doomed = await makeRowSheet(org)
    const [revoked, expired, stays] = [
      await org.keyFor(org.adminEmail, 'admin'),
      await org.keyFor(org.adminEmail, 'admin'),
      await org.keyFor(org.adminEmail, 'admin'),
    ]
    const guestKey = await org.keyFor('guest@example.com', 'member')
    const sharing = { orgId, workflowId: sharedId, email: 'guest@example.com' }
    await setSharing(db, OPERATOR, sharing, true)
    const keyId = async (key: string) => {
      const found = await db
        .selectFrom('api_keys')
        .select('key_id')
        .where('hash', '=', hashToken(key))
        .executeTakeFirstOrThrow()
      return found.key_id
    }
    const streams = {
      revoked: await open(path, revoked),
      expired: await open(path, expired),
      unshared: await open(shared, guestKey),
      deleted: await open(doomed, org.key),
      stays: await open(path, stays),
    }
    expect(Object.values(streams).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    await endKey(db, OPERATOR, await keyId(revoked))
    await db
      .updateTable('api_keys')
      .set({ expires_at: new Date(0) })
      .where('key_id', '=', await keyId(expired))
      .execute()
    await setSharing(db, OPERATOR, sharing, false)
    await org.call('DELETE', `/workflows/${doomed.split('/')[2]}`)
    await expect
      .poll(() => Object.entries(streams).map(([name, { isEnded }]) => [name, isEnded]))
      .toEqual([
        ['revoked', true],
        ['expired', true],
        ['unshared', true],
        ['deleted', true],
        ['stays', false],
      ])
  })
})
