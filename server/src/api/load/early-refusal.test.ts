import { Agent, request } from 'node:http'
import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { refuseEarly } from './early-refusal.ts'

const app = await makeApp()

type Answer = { status: number; headers: Record<string, unknown>; body: string }

it('R10: a refused request costs no look at its route or body, its connection stays open, and /healthz always answers', async () => {
  let full = true
  refuseEarly(app.api, () => full)
  const origin = await app.api.listen({ host: '127.0.0.1', port: 0 })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = (path: string, body?: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(`${origin}${path}`, { agent, method }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
      })
    })
    sent.on('error', reject).end(body)
    return promise
  }
  const refused = await send('/api/v1/no/such/route', 'x'.repeat(300_000))
  expect(refused).toMatchObject({
    status: 503,
    headers: { 'retry-after': expect.stringMatching(/^[1-3]$/), 'x-request-id': expect.any(String) },
  })
  expect(JSON.parse(refused.body)).toEqual({
    status: 503,
    error: 'Service Unavailable',
    message: 'The server is overloaded. Try again shortly',
  })
  expect((await send('/healthz')).status).toBe(200)
  full = false
  expect((await send('/api/v1/user/')).status).toBe(401)
  agent.destroy()
  await app.api.close()
})
