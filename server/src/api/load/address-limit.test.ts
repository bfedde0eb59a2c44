import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { healthRoutes } from '../health.ts'
import { handleError } from '../http/errors.ts'
import type { Api } from '../services.ts'
import { createAddressLimit } from './address-limit.ts'

it('/readyz: each address has its own limit a minute', () => {
  const count = createAddressLimit(3)
  for (let n = 0; n < 3; n++) count('203.0.113.1')
  expect(() => count('203.0.113.1')).toThrow('Rate limit of 3 requests per minute exceeded')
  expect(() => count('203.0.113.2')).not.toThrow()
})

it('/readyz is counted by address, /healthz answers always', async () => {
  const { services } = await makeApp()
  const api: Api = Fastify().setErrorHandler(handleError)
  onTestFinished(() => api.close())
  healthRoutes(api, services, 3)
  const ask = async (url: string, remoteAddress: string) =>
    (await api.inject({ url, remoteAddress })).json<{ status: number }>().status
  const statuses: number[] = []
  // A minute may end during the loop, which resets the count.
  for (let n = 0; n < 7; n++) statuses.push(await ask('/readyz', '203.0.113.3'))
  expect(statuses).toContain(429)
  expect(await ask('/readyz', '203.0.113.4')).toBe(200)
  expect(await ask('/healthz', '203.0.113.3')).toBe(200)
})

it('guesses at invitations are counted by address, as requests without a key are', async () => {
  const app = await makeApp({ settings: { LOAM_RATE_LIMIT_PER_DAY: '3' } })
  const ask = async (n: number) =>
    (await app.api.inject({ url: `/invitations/guess${n}`, remoteAddress: '203.0.113.5' })).statusCode
  const statuses: number[] = []
  // A day may end during the loop, but only once.
  for (let n = 0; n < 7; n++) statuses.push(await ask(n))
  expect(statuses.slice(0, 3)).toEqual([404, 404, 404])
  expect(statuses).toContain(429)
})
