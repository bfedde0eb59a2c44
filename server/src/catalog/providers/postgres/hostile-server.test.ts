import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { LOOPBACK_IDENTITY } from '#test/doubles/loopback-identity.ts'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { connectionTo } from '../../testing/crm.ts'
import { useActions } from '../../testing/run-action.ts'

const runAction = useActions()

/** Encodes one message of PostgreSQL's protocol. */
function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
const int16 = (value: number) => Buffer.from([value >> 8, value & 255])
const text = (value: string) => Buffer.from(`${value}\0`)
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const READY = message('Z', Buffer.from('I'))
const PARSED = [message('1'), message('2')]
const DONE = [...PARSED, message('n'), message('C', text('BEGIN')), READY]
const describeColumns = (count: number) =>
  message('T', int16(count), ...Array.from({ length: count }, (_, n) => column(n)))
const column = (n: number) =>
  Buffer.concat([text(n.toString(36)), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(0)])

/** Serves just enough of the protocol, and then sends the rows that `flood` returns, without end. */
async function serveHostile(flood: () => { first: Buffer; again: Buffer }, { tls = false } = {}) {
  const sent = { bytes: 0 }
  const { port } = await serveRaw((raw) => {
    const speak = (socket: Duplex) => {
      let statements = 0
      let isStarted = false
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => {
        if (!isStarted) {
          isStarted = true
          socket.write(Buffer.concat([message('R', int32(0)), READY]))
        } else if (chunk.includes('Sync') || chunk.at(-5) === 'S'.charCodeAt(0)) {
          statements += 1
          if (statements < 3) socket.write(Buffer.concat(DONE))
          else pour(socket)
        }
      })
    }
    const pour = (socket: Duplex) => {
      const { first, again } = flood()
      socket.write(Buffer.concat([...PARSED, first]))
      const more = () => {
        while (!socket.destroyed && sent.bytes < 3_000_000_000) {
          sent.bytes += again.length
          if (!socket.write(again)) return void socket.once('drain', more)
        }
      }
      more()
    }
    if (!tls) return speak(raw)
    raw.once('data', () => {
      raw.write('S')
      speak(new TLSSocket(raw, { isServer: true, ...LOOPBACK_IDENTITY }))
    })
  })
  return { sent, secret: `postgres://u:p@127.0.0.1:${port}/d?sslmode=${tls ? 'require' : 'disable'}` }
}

function watchMemory() {
  const before = process.memoryUsage().rss
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20)
  onTestFinished(() => clearInterval(timer))
  return () => (Math.max(peak, process.memoryUsage().rss) - before) / 1_000_000
}

const run = (secret: string) =>
  runAction(
    'postgres_query',
    { sql: 'select 1', limit: '1000' },
    { keys: connectionTo('postgres', { secret }) },
  )

it.each([false, true])('F62, I4: a value without end stops at 16 MB (TLS: %s)', async (tls) => {
  const megabyte = Buffer.alloc(1_000_000, 'x')
  // A row with one value of 2 GB.
  const header = Buffer.concat([Buffer.from('D'), int32(2_000_000_010), int16(1), int32(2_000_000_000)])
  const first = Buffer.concat([describeColumns(1), header])
  const { sent, secret } = await serveHostile(() => ({ first, again: megabyte }), { tls })
  const grown = watchMemory()
  const outcome = await run(secret)
  expect(outcome).toMatchObject({
    kind: 'failed',
    message: expect.stringContaining(
      'the answer is larger than 16000000 bytes. Read fewer or shorter columns.',
    ),
  })
  expect(sent.bytes).toBeLessThan(40_000_000)
  expect(grown()).toBeLessThan(200)
})

it.each([
  ['rows that nobody asked for', describeColumns(1), message('D', int16(0))],
  ['rows of 30,000 columns in a few bytes', describeColumns(30_000), message('D', int16(0))],
  ['result upon result', message('C', text('SELECT')), message('C', text('SELECT'))],
])('F62: %s are refused when they come', async (_what, first, one) => {
  const again = Buffer.concat(Array<Buffer>(5000).fill(one))
  const { sent, secret } = await serveHostile(() => ({ first, again }))
  const grown = watchMemory()
  const started = performance.now()
  expect(await run(secret)).toMatchObject({ message: expect.stringContaining('more than it was asked for') })
  expect(performance.now() - started).toBeLessThan(5000)
  expect(sent.bytes).toBeLessThan(40_000_000)
  expect(grown()).toBeLessThan(200)
})

it.each([false, true])(
  'F62: a message that the driver cannot read ends the call and not the process (TLS: %s)',
  async (tls) => {
    const first = message('T', int16(60_000))
    const { secret } = await serveHostile(() => ({ first, again: first }), { tls })
    expect(await run(secret)).toMatchObject({
      message: expect.stringContaining('does not speak as PostgreSQL does'),
    })
  },
)
