import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

/**
 * The patience of the tests: thirty times the limit. Node itself ends headers after twice as long, and bodies
 * after minutes, which is not tested here.
 */
const PATIENCE = { timeout: 30_000 }

const app = await makeApp({ settings: { LOAM_REQUEST_STALL_SECONDS: '1' } })
const org = await app.makeOrg()
await app.api.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.api.server.address() as AddressInfo

function open(): Socket {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  // A connection that the server resets has ended, just as one that it closes.
  socket.on('error', () => undefined)
  return socket
}

/** Returns everything the server sends until it closes the connection. */
async function hearOut(socket: Socket): Promise<string> {
  let heard = ''
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text))
  await expect.poll(() => socket.closed, PATIENCE).toBe(true)
  return heard
}

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'host: loam.test', `authorization: Bearer ${org.key}`, ...headers, '', ''].join('\r\n')

it('a body that stops arriving ends its request with 408', async () => {
  const socket = open()
  socket.write(head('PUT /api/v1/user/knowledge', 'content-type: application/json', 'content-length: 500'))
  socket.write('{"content": "')
  expect(await hearOut(socket)).toContain('408 Request Timeout')
})

it('a body that arrives too slowly counts as stopped', async () => {
  const socket = open()
  socket.write(head('PUT /api/v1/user/knowledge', 'content-type: application/json', 'content-length: 5000'))
  const trickle = setInterval(() => socket.writable && socket.write(' '), 100)
  onTestFinished(() => clearInterval(trickle))
  expect(await hearOut(socket)).toContain('408 Request Timeout')
})

it('headers that stop arriving end their connection', async () => {
  const socket = open()
  socket.write('GET /healthz HTTP/1.1\r\nhost: loam.test\r\nx-slow: ')
  expect(await hearOut(socket)).toContain('408 Request Timeout')
})

it('answers that the client does not read end their connection; an idle stream stays open', async () => {
  await org.call('PUT', '/user/knowledge', { content: 'x'.repeat(262_144) })
  const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Stream' })).body.data
  const sheet = `/api/v1/workflows/${id}/sheets/${id}`
  const stream = open()
  stream.write(head(`GET ${sheet}/changes`, 'accept: text/event-stream'))
  let events = 0
  stream.setEncoding('utf8').on('data', (text: string) => (events += text.split('event: change').length - 1))
  await expect.poll(() => events, PATIENCE).toBeGreaterThan(0)

  // Only a reader notices the end of a connection, so the server's side of it tells when it has closed.
  const accepted = once(app.api.server, 'connection')
  const socket = open()
  const [served] = (await accepted) as [Socket]
  socket.pause()
  for (let n = 0; n < 100; n++) socket.write(head('GET /api/v1/user/knowledge'))
  await expect.poll(() => served.closed, PATIENCE).toBe(true)
  expect(stream.closed).toBe(false)

  const heard = events
  await org.call('POST', `${sheet.slice('/api/v1'.length)}/inputs`, [{ name: 'a', type: 'string' }])
  await org.call('POST', `${sheet.slice('/api/v1'.length)}/rows`, { rows: [{ a: 'b' }] })
  await expect.poll(() => events, PATIENCE).toBeGreaterThan(heard)
})
