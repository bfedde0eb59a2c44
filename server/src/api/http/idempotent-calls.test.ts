import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp({ settings: { LOAM_EGRESS_ALLOW: '127.0.0.1' } })
const org = await app.makeOrg()
const other = await app.makeOrg()
/** Starts a service that answers only when the test allows it. */
async function serveSlowly() {
  const open = Promise.withResolvers<void>()
  let asked = 0
  const { origin } = await serveHttp((_request, response) => {
    asked += 1
    response.setHeader('content-type', 'application/json')
    void open.promise.then(() => response.end('[{"id": 1, "name": "Acme"}]'))
  })
  onTestFinished(() => open.resolve())
  return { url: `${origin}/items`, asked: () => asked, answer: () => open.resolve() }
}

const preview = (url: string, key: string) =>
  org.call('POST', '/sources/import_from_api/preview', { url }, { 'idempotency-key': key })

describe('F58: calls with an Idempotency-Key to a slow address', () => {
  it('block no write of another organisation, nor one of their own', async () => {
    const slow = await serveSlowly()
    const previews = Array.from({ length: 14 }, () => preview(slow.url, randomUUID()))
    await expect.poll(slow.asked).toBe(14)
    const writes = await Promise.all(
      [org, other].map((one) =>
        one.call('POST', '/workflows', { name: 'Meanwhile' }, { 'idempotency-key': randomUUID() }),
      ),
    )
    expect(writes.map(({ status }) => status)).toEqual([201, 201])
    slow.answer()
    const answers = await Promise.all(previews)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  it('D14: are in progress while they wait, and are replayed once answered', async () => {
    const slow = await serveSlowly()
    const key = randomUUID()
    const first = preview(slow.url, key)
    await expect.poll(slow.asked).toBe(1)
    const meanwhile = await preview(slow.url, key)
    expect([meanwhile.status, meanwhile.headers['retry-after']]).toEqual([409, '1'])
    expect((await preview(`${slow.url}?other`, key)).status).toBe(422)
    slow.answer()
    const answered = await first
    const again = await preview(slow.url, key)
    expect([again.status, again.headers['idempotency-replayed'], slow.asked()]).toEqual([200, 'true', 1])
    expect(again.body).toEqual(answered.body)
  })

  it('D14: a process killed during the call leaves a claim that ends with its lease; then the call runs again', async () => {
    const slow = await serveSlowly()
    slow.answer()
    const key = randomUUID()
    await preview(slow.url, key)
    // The state after a kill: claimed, without an answer.
    await app.store.query({
      text: `update idempotency_keys set status = null, body_sealed = null, claim_id = gen_random_uuid(),
        leased_until = now() + interval '1 minute' where key = $1`,
      values: [key],
    })
    const left = await preview(slow.url, key)
    expect([left.status, left.headers['retry-after'], slow.asked()]).toEqual([409, '1', 1])
    await app.store.query({
      text: `update idempotency_keys set leased_until = now() where key = $1`,
      values: [key],
    })
    const after = await preview(slow.url, key)
    expect([after.status, after.headers['idempotency-replayed'], slow.asked()]).toEqual([200, undefined, 2])
    expect((await preview(slow.url, key)).headers['idempotency-replayed']).toBe('true')
  })

  it('D14: a refusal gives the key back at once', async () => {
    const key = randomUUID()
    const refused = await preview('http://127.0.0.1:1/nothing', key)
    expect(refused.status).toBe(400)
    const slow = await serveSlowly()
    slow.answer()
    expect((await preview(slow.url, key)).status).toBe(200)
  })

  it('I5: hold no turn: every route that calls other services either declares that it waits, or commits first', () => {
    const { declaredRoutes } = app.api
    const repeatable = declaredRoutes.filter(({ config }) => config.callsOut === 'repeatable')
    expect(repeatable.length).toBeGreaterThanOrEqual(4)
    expect(repeatable.filter(({ config }) => config.waits !== true)).toEqual([])
  })
})
