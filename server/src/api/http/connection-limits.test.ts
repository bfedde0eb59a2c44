import { Agent, request as sendRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const SETTINGS = { LOAM_CONNECTIONS: '100', LOAM_CONNECTIONS_PER_ADDRESS: '20' }
const PATIENCE = { timeout: 30_000 }

async function listen(settings: Record<string, string> = {}) {
  const app = await makeApp({ settings: { ...SETTINGS, ...settings } })
  await app.api.listen({ host: '127.0.0.1', port: 0 })
  const { server } = app.api
  const { port } = server.address() as AddressInfo
  const count = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((cause, open) => (cause === null ? resolve(open) : reject(cause)))
    })

  /** Opens connections that send the beginning of a request and no more. */
  function openHalf(many: number, localAddress = '127.0.0.1'): Socket[] {
    return Array.from({ length: many }, () => {
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      onTestFinished(() => void socket.destroy())
      socket.on('error', () => undefined)
      return socket.once('connect', () => socket.write('GET /healthz HTTP/1.1\r\nhost: a\r\nx: '))
    })
  }

  /** Creates a client with its own key and one connection. */
  async function makeClient(localAddress: string) {
    const { key } = await app.makeOrg()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const headers = { authorization: `Bearer ${key}` }
    return () =>
      new Promise<number>((resolve, reject) => {
        const asked = sendRequest(
          { agent, localAddress, port, host: '127.0.0.1', path: '/api/v1/workflows', headers },
          (answer) => answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
        )
        asked.once('error', reject).end()
      })
  }
  return { count, openHalf, makeClient }
}

it('F69, I7: half-open connections are limited in total and by address, and no request of clients with a key is lost', async () => {
  const { count, openHalf, makeClient } = await listen()
  // 40 clients: more than an address may have without a key.
  const clients = await Promise.all(Array.from({ length: 40 }, () => makeClient('127.0.0.2')))
  const statuses = new Map<unknown, number>()
  const controller = new AbortController()
  const load = clients.map(async (call) => {
    while (!controller.signal.aborted) {
      const status = await call().catch((cause: Error) => cause.message)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await sleep(100)
    }
  })
  await expect.poll(() => statuses.get(200) ?? 0, PATIENCE).toBeGreaterThan(80)
  let most = 0
  const watch = setInterval(() => void count().then((open) => (most = Math.max(most, open))), 20)
  onTestFinished(() => clearInterval(watch))
  const halves = openHalf(400)
  await expect.poll(() => halves.filter(({ closed }) => closed).length, PATIENCE).toBeGreaterThanOrEqual(340)
  // A client with a key is admitted at the same time.
  expect(await (await makeClient('127.0.0.3'))()).toBe(200)
  await expect.poll(() => halves.filter(({ closed }) => closed).length, PATIENCE).toBeGreaterThanOrEqual(380)
  expect(halves.filter(({ closed }) => !closed).length).toBeGreaterThan(0)
  controller.abort()
  await Promise.all(load)
  expect([...statuses.keys()]).toEqual([200])
  expect(most).toBeLessThanOrEqual(110)
})

it('I7: a trusted proxy has no limit of its own, since it has many clients', async () => {
  const { count, openHalf } = await listen({ LOAM_TRUST_PROXY: '127.0.0.4' })
  openHalf(60, '127.0.0.4')
  openHalf(30, '127.0.0.5')
  await expect.poll(count, PATIENCE).toBe(90)
  await expect.poll(count, PATIENCE).toBe(80)
  await sleep(2000)
  expect(await count()).toBe(80)
})
