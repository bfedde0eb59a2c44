import { expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'
import { createAddressLimit } from './address-limit.ts'

it('/readyz: an address has so many a minute, others have theirs', () => {
  const count = createAddressLimit(3)
  for (let n = 0; n < 3; n++) count('203.0.113.1')
  expect(() => count('203.0.113.1')).toThrow('Rate limit of 3 requests per minute exceeded')
  expect(() => count('203.0.113.2')).not.toThrow()
})

it('/readyz is counted by address, /healthz answers always', async () => {
  const app = await makeApp()
  const ask = async (url: string, remoteAddress: string) =>
    (await app.api.inject({ url, remoteAddress })).statusCode
  for (let n = 0; n < 1200; n++) await ask('/readyz', '203.0.113.3')
  expect(await ask('/readyz', '203.0.113.3')).toBe(429)
  expect(await ask('/readyz', '203.0.113.4')).toBe(200)
  expect(await ask('/healthz', '203.0.113.3')).toBe(200)
})

it('guesses at invitations are counted by address, as requests without a key are', async () => {
  const app = await makeApp({ settings: { LOAM_RATE_LIMIT_PER_DAY: '3' } })
  const statuses: number[] = []
  for (let n = 0; n < 5; n++) {
    const answer = await app.api.inject({ url: `/invitations/guess${n}`, remoteAddress: '203.0.113.5' })
    statuses.push(answer.statusCode)
  }
  expect(statuses).toEqual([404, 404, 404, 429, 429])
})
