import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { healthRoutes } from '../health.ts'
import { handleError } from '../http/errors.ts'
import type { Api } from '../services.ts'
import { createAddressLimit } from './address-limit.ts'

it('/readyz: each address has its own limit a minute', () => {
  const waitSeconds = createAddressLimit(3)
  for (let n = 0; n < 3; n++) expect(waitSeconds('203.0.113.1')).toBe(0)
  expect(waitSeconds('203.0.113.1')).toBeGreaterThan(0)
  expect(waitSeconds('203.0.113.2')).toBe(0)
})

it('of 10,000 requests of one address 60 pass, and any number of addresses takes bounded memory', () => {
  const waitSeconds = createAddressLimit(60, 100)
  const passed = Array.from({ length: 10_000 }, () => waitSeconds('one')).filter((seconds) => seconds === 0)
  expect(passed).toHaveLength(60)
  for (let n = 0; n < 100; n += 1) waitSeconds(`other ${n}`)
  // The address that was silent longest was forgotten to make room.
  expect(waitSeconds('one')).toBe(0)
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
