import { expect, it } from 'vitest'
import { openStore } from '#server/database/connection/db.ts'
import { createLog } from '#server/lib/log.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { createApp } from '../app.ts'

const app = await makeApp({ settings: { LOAM_RATE_LIMIT_PER_MINUTE: '20', LOAM_RATE_LIMIT_PER_DAY: '50' } })

/** Waits for the next minute if the current window is about to end, which would split the count. */
async function waitForRoomInMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 20_000) await new Promise((resolve) => setTimeout(resolve, left + 50))
}

it('part 8: 429 after the limit, with the fixed body, and never before', async () => {
  await waitForRoomInMinute()
  const org = await app.makeOrg()
  const remaining: unknown[] = []
  for (let n = 0; n < 20; n++) {
    const answer = await org.call('GET', '/user')
    expect(answer.status).toBe(200)
    remaining.push(answer.headers['x-ratelimit-remaining'])
    expect(answer.headers['retry-after']).toBeUndefined()
  }
  expect(remaining.map(Number)).toEqual(Array.from({ length: 20 }, (_, n) => 19 - n))
  const over = await org.call('GET', '/user')
  const retryAfter = Number(over.headers['retry-after'])
  expect(over.status).toBe(429)
  expect(over.body).toEqual({
    status: 429,
    error: 'Too Many Requests',
    message: expect.any(String),
    retryAfter,
  })
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(60)
  expect(Number(over.headers['x-ratelimit-limit'])).toBe(20)
  expect(Number(over.headers['x-ratelimit-remaining'])).toBe(0)
  const reset = Number(over.headers['x-ratelimit-reset'])
  expect(reset % 60).toBe(0)
  expect(reset - Date.now() / 1000).toBeLessThanOrEqual(60)
})

it('D9: exact under concurrency and across processes', async () => {
  await waitForRoomInMinute()
  const org = await app.makeOrg()
  const other = openStore({ url: app.databaseUrl, log: createLog('silent') })
  const second = await createApp({ ...app.services, store: other })
  const headers = { authorization: `Bearer ${org.key}` }
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      (n % 2 === 0 ? app.api : second).inject({ url: '/api/v1/user', headers }),
    ),
  )
  const granted = answers.filter((answer) => answer.statusCode === 200)
  expect(granted).toHaveLength(20)
  const seen = granted.map((answer) => Number(answer.headers['x-ratelimit-remaining'])).sort((a, b) => a - b)
  expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n))
  await second.close()
  await other.close()
})

it('D9: the headers report the window with the smaller share left; the day has a limit too', async () => {
  await waitForRoomInMinute()
  const org = await app.makeOrg()
  const first = await org.call('GET', '/user')
  expect(Number(first.headers['x-ratelimit-limit'])).toBe(20)
  await app.store.query({
    text: `update rate_windows set day_used = 49, minute_used = 0 where bucket = (
      select 'key ' || key_id from api_keys where org_id = '${org.orgId}' limit 1)`,
  })
  const last = await org.call('GET', '/user')
  expect([last.status, Number(last.headers['x-ratelimit-limit'])]).toEqual([200, 50])
  expect(Number(last.headers['x-ratelimit-remaining'])).toBe(0)
  expect(Number(last.headers['x-ratelimit-reset']) % 86_400).toBe(0)
  const over = await org.call('GET', '/user')
  expect([over.status, Number(over.headers['x-ratelimit-limit'])]).toEqual([429, 50])
  expect(Number(over.headers['retry-after'])).toBe(Number(over.body.retryAfter))
})

it('a new minute gives the whole limit again, and refused requests are not counted', async () => {
  await waitForRoomInMinute()
  const org = await app.makeOrg()
  for (let n = 0; n < 25; n++) await org.call('GET', '/user')
  const bucket = `(select 'key ' || key_id from api_keys where org_id = '${org.orgId}' limit 1)`
  const [row] = await app.store.query<{ day_used: number }>({
    text: `update rate_windows set minute = minute - interval '1 minute' where bucket = ${bucket} returning day_used`,
  })
  expect(row?.day_used).toBe(20)
  const answer = await org.call('GET', '/user')
  // The minute has 19 of 20 left, the day 29 of 50: the day is nearer to its end.
  expect([answer.status, Number(answer.headers['x-ratelimit-remaining'])]).toEqual([200, 29])
})

it('a key may carry its own limit', async () => {
  await waitForRoomInMinute()
  const org = await app.makeOrg()
  const key = await org.keyFor('fast@example.com', 'member', { perMinute: 2 })
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await app.call(key, 'GET', '/user')).status)
  expect(statuses).toEqual([200, 200, 429])
})

it('D59: an unauthenticated caller is counted by address and gets 429 over its limit', async () => {
  await waitForRoomInMinute()
  const ask = () =>
    app.api.inject({
      url: '/api/v1/user',
      remoteAddress: '203.0.113.9',
      headers: { authorization: 'Bearer nonsense' },
    })
  const answers = []
  for (let n = 0; n < 21; n++) answers.push(await ask())
  expect(answers.slice(0, 20).every((answer) => answer.statusCode === 401)).toBe(true)
  expect(Number(answers[0]?.headers['x-ratelimit-remaining'])).toBe(19)
  expect(answers[20]?.statusCode).toBe(429)
  const elsewhere = await app.api.inject({ url: '/api/v1/user', remoteAddress: '203.0.113.10' })
  expect(elsewhere.statusCode).toBe(401)
})

it('the headers are on every response under /api/v1, errors included', async () => {
  const org = await app.makeOrg()
  for (const [method, path] of [
    ['GET', '/nowhere'],
    ['PUT', '/user/knowledge'],
    ['DELETE', '/org/members?email='],
    ['GET', '/openapi.json'],
  ] as const) {
    const { headers } = await org.call(method, path)
    expect(Object.keys(headers)).toEqual(
      expect.arrayContaining(['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']),
    )
  }
})
