import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { BODY_CLASSES } from './body.ts'

const app = await makeApp({ settings: { LOAM_RATE_LIMIT_PER_MINUTE: '30' } })
const org = await app.makeOrg()
await app.api.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.api.server.address() as AddressInfo
const PATIENCE = { timeout: 20_000 }
const MEBI = 1024 * 1024

type Heard = { socket: Socket; text: () => string }

function open(): Heard {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let heard = ''
  socket.on('error', () => undefined).setEncoding('utf8')
  socket.on('data', (text: string) => (heard += text))
  return { socket, text: () => heard }
}

const head = (path: string, bytes: number, key = org.key) =>
  [
    `POST /api/v1${path} HTTP/1.1`,
    'host: loam.test',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${bytes}`,
    '',
    '',
  ].join('\r\n')

const tooLarge = BODY_CLASSES.control.bytes + 1

it.each<[status: string, path: string, bytes: number, key: string | null]>([
  ['413', '/workflows', tooLarge, null],
  ['401', '/workflows', 100, 'loam_nobody'],
  ['404', '/no/such/path', 100, null],
  ['404', '/no/such/path', tooLarge, null],
  ['404', `/workflows/${crypto.randomUUID()}/name`, 100, null],
])(
  'D91: %s of %s is answered before the body comes, and the connection serves the next request',
  async (status, path, bytes, key) => {
    const { socket, text } = open()
    socket.write(head(path, bytes, key ?? org.key))
    await expect.poll(text, PATIENCE).toContain(`HTTP/1.1 ${status}`)
    socket.write(' '.repeat(bytes))
    socket.write('GET /healthz HTTP/1.1\r\nhost: loam.test\r\n\r\n')
    await expect.poll(text, PATIENCE).toContain('HTTP/1.1 200')
  },
)

it('D91: 429 is answered before the body arrives', async () => {
  const other = await app.makeOrg()
  for (let n = 0; n < 30; n += 1) await other.call('GET', '/workflows')
  const { socket, text } = open()
  socket.write(head('/workflows', 100, other.key))
  await expect.poll(text, PATIENCE).toContain('HTTP/1.1 429')
})

it('F71, D91: a slow refused body ends its connection after 10 s, and an endless one after 64 MiB', async () => {
  const trickling = open()
  const started = performance.now()
  trickling.socket.write(head('/no/such/path', 5000))
  const trickle = setInterval(() => void (trickling.socket.writable && trickling.socket.write(' ')), 500)
  onTestFinished(() => clearInterval(trickle))

  const endless = open()
  const chunk = Buffer.alloc(MEBI, ' ')
  let sent = 0
  endless.socket.write(head('/no/such/path', 1024 * MEBI))
  const pour = () => {
    while (!endless.socket.destroyed && sent < 1024) {
      sent += 1
      if (!endless.socket.write(chunk)) return void endless.socket.once('drain', pour)
    }
  }
  pour()
  await expect.poll(() => endless.socket.closed, { timeout: 9000 }).toBe(true)
  expect(sent).toBeGreaterThan(60)
  expect(sent).toBeLessThan(300)

  expect(trickling.text()).toContain('HTTP/1.1 404')
  await expect.poll(() => trickling.socket.closed, { timeout: 20_000 }).toBe(true)
  expect(performance.now() - started).toBeGreaterThan(8000)
  expect(performance.now() - started).toBeLessThan(20_000)
})
