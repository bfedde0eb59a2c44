import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { createLocalEgress, fetchLocal, head, serveBytes, serveEncoded } from './testing/local-egress.ts'

describe('a broken answer is a failure, never a short success', () => {
  const gzip = zlib.gzipSync('x'.repeat(1000))
  const broken = Buffer.from(gzip)
  broken.fill(0xff, 12)
  const badSum = Buffer.from(gzip)
  badSum.writeUInt8(badSum.readUInt8(gzip.length - 8) ^ 1, gzip.length - 8)
  const chunked = head('transfer-encoding: chunked')

  it.each<[string, string | Buffer, 'close' | 'reset', string]>([
    ['closed before the headers', '', 'close', 'reset'],
    ['reset before the headers', '', 'reset', 'reset'],
    ['closed within the headers', 'HTTP/1.1 200 OK\r\nx: y', 'close', 'reset'],
    ['closed within a body of known length', `${head('content-length: 100')}short`, 'close', 'reset'],
    ['reset within a body of known length', `${head('content-length: 100')}short`, 'reset', 'reset'],
    [
      'closed within a body of known length, announced',
      `${head('connection: close\r\ncontent-length: 100')}short`,
      'close',
      'reset',
    ],
    [
      'reset within a body of known length, announced',
      `${head('connection: close\r\ncontent-length: 100')}short`,
      'reset',
      'reset',
    ],
    ['closed within a chunk', `${chunked}ff\r\nshort`, 'close', 'reset'],
    [
      'closed between chunks, announced',
      `${head('connection: close\r\ntransfer-encoding: chunked')}5\r\nshort\r\n`,
      'close',
      'reset',
    ],
    ['closed between chunks', `${chunked}5\r\nshort\r\n`, 'close', 'reset'],
    ['reset between chunks', `${chunked}5\r\nshort\r\n`, 'reset', 'reset'],
    ['reset in a body that ends by closing', `${head('connection: close')}short`, 'reset', 'reset'],
    ['not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'close', 'protocol'],
    ['with a wrong chunk size', `${chunked}zz\r\nx\r\n`, 'close', 'protocol'],
    ['with a wrong length', `${head('content-length: x')}x`, 'close', 'protocol'],
    ['with two lengths', `${head('content-length: 1\r\ncontent-length: 2')}xx`, 'close', 'reset'],
    [
      'with both length and chunks',
      `${head('content-length: 3\r\ntransfer-encoding: chunked')}1\r\nx\r\n0\r\n\r\n`,
      'close',
      'reset',
    ],
    [
      'that upgrades unasked',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'close',
      'reset',
    ],
  ])('%s', async (_what, bytes, ending, kind) => {
    const server = await serveBytes(bytes, ending)
    const result = await fetchLocal({ url: server.origin, timeoutMs: 5_000 })
    expect(result).toMatchObject({ ok: false, kind, retryable: kind === 'reset' })
    expect(!result.ok && result.message).toMatch(
      new RegExp(`^${server.origin}: the (connection broke|answer is not valid HTTP)`),
    )
    await expect.poll(() => server.open()).toBe(0)
  })

  it.each<[string, string, Buffer]>([
    ['is not gzip', 'gzip', Buffer.from('plain text')],
    ['is broken gzip', 'gzip', broken],
    ['is gzip with a wrong checksum', 'gzip', badSum],
    ['is truncated gzip', 'gzip', gzip.subarray(0, -1)],
    ['is truncated within the gzip header', 'gzip', gzip.subarray(0, 5)],
    ['is gzip with something after it', 'gzip', Buffer.concat([gzip, Buffer.from('rest')])],
    ['is truncated deflate', 'deflate', zlib.deflateSync('x'.repeat(1000)).subarray(0, -4)],
    [
      'is deflate with something after it',
      'deflate',
      Buffer.concat([zlib.deflateSync('x'), Buffer.from('rest')]),
    ],
    ['is truncated brotli', 'br', zlib.brotliCompressSync('hello, hello').subarray(0, -2)],
    [
      'is brotli with something after it',
      'br',
      Buffer.concat([zlib.brotliCompressSync('x'), Buffer.from('rest')]),
    ],
    ['is truncated zstd', 'zstd', zlib.zstdCompressSync('x'.repeat(1000)).subarray(0, -2)],
    [
      'is a second zstd frame that Node would not read',
      'zstd',
      Buffer.concat([zlib.zstdCompressSync('x'), zlib.zstdCompressSync('y')]),
    ],
    ['is zstd with a window above 8 MB', 'zstd', zstdWithWindow(27)],
    ['is gzip once and said to be twice', 'gzip, gzip', gzip],
    ['is in an encoding nobody asked for', 'compress', Buffer.from('x')],
    ['is encoded too often', 'gzip, gzip, gzip, gzip', gzip],
  ])('whose body %s', async (_what, encoding, body) => {
    const server = await serveEncoded(body, encoding)
    const result = await fetchLocal({ url: server.origin, timeoutMs: 5_000 })
    expect(result).toMatchObject({ ok: false, kind: 'protocol', retryable: false })
  })

  it('reads encodings in the order in which they were applied, and bare deflate', async () => {
    const data = Buffer.from('hello')
    for (const [encoding, body] of [
      ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(data))],
      ['identity, GZIP', zlib.gzipSync(data)],
      ['deflate', zlib.deflateRawSync(data)],
    ] as const) {
      const server = await serveEncoded(body, encoding)
      const result = await fetchLocal({ url: server.origin })
      expect(result.ok && (await result.text())).toBe('hello')
    }
  })
})

function zstdWithWindow(log: number): Buffer {
  const params = { [zlib.constants.ZSTD_c_windowLog]: log }
  return zlib.zstdCompressSync(Buffer.alloc(2 ** log, 'Loam'), { params })
}

describe('no connection', () => {
  it('to a closed port is a failure that may be tried again', async () => {
    const server = await serveHttp(() => undefined)
    await server.close()
    const result = await fetchLocal({ url: `${server.origin}/secret?key=secret` })
    expect(result).toMatchObject({
      ok: false,
      kind: 'connect',
      message: `${server.origin}: no connection (ECONNREFUSED). Check host and port, or try again.`,
      retryable: true,
    })
  })

  it.each([
    ['ENOTFOUND', false, 'there is no such host. Check its name.'],
    ['ENODATA', false, 'there is no such host. Check its name.'],
    ['ESERVFAIL', true, 'the host name could not be resolved (ESERVFAIL). Try again.'],
    ['EAI_AGAIN', true, 'the host name could not be resolved (EAI_AGAIN). Try again.'],
  ])('to a name that cannot be resolved: %s', async (code, retryable, message) => {
    const egress = createLocalEgress(() => Promise.reject(Object.assign(new Error('dns'), { code })))
    const result = await egress.fetch({ url: 'https://nowhere.example/secret' })
    expect(result).toMatchObject({
      ok: false,
      kind: 'dns',
      retryable,
      message: `https://nowhere.example: ${message}`,
    })
  })

  it('to a name without addresses', async () => {
    const egress = createLocalEgress(() => Promise.resolve([]))
    expect(await egress.fetch({ url: 'http://empty.example/' })).toMatchObject({
      kind: 'dns',
      retryable: false,
    })
  })

  it('is thrown when the resolver itself is at fault, as no caller can cause that', async () => {
    const egress = createLocalEgress(() => Promise.reject(new TypeError('a mistake')))
    await expect(egress.fetch({ url: 'http://a.example/' })).rejects.toThrow('a mistake')
  })
})
