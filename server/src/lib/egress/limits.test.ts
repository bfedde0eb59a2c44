import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import zlib from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress, type Egress } from './egress.ts'
import {
  createLocalEgress,
  ENCODERS,
  fetchLocal,
  head,
  serveBytes,
  serveEncoded,
} from './testing/local-egress.ts'

const FAST_BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }

describe('the size limit', () => {
  it.each(Object.keys(ENCODERS))('holds exactly for %s, decoded', async (encoding) => {
    const data = Buffer.alloc(100_000, 'Loam ')
    const server = await serveEncoded(ENCODERS[encoding]?.(data) ?? data, encoding)
    const atLimit = await fetchLocal({ url: server.origin, maxBytes: 100_000 })
    expect(atLimit.ok && data.equals(atLimit.body)).toBe(true)
    const above = await fetchLocal({ url: server.origin, maxBytes: 99_999 })
    expect(above).toMatchObject({ ok: false, kind: 'too_large', retryable: false })
    expect(!above.ok && above.message).toBe(`${server.origin}: the answer is larger than 99999 bytes.`)
  })

  it.each(['content-length', 'chunked', 'close'])(
    'holds exactly on the wire, delimited by %s',
    async (delimiter) => {
      const server = await serveHttp((_, response) => {
        if (delimiter === 'content-length') response.setHeader('content-length', 1000)
        if (delimiter === 'close') response.useChunkedEncodingByDefault = false
        response.write('x'.repeat(500))
        response.end('x'.repeat(500))
      })
      expect(await fetchLocal({ url: server.origin, maxBytes: 1000 })).toMatchObject({ ok: true })
      expect(await fetchLocal({ url: server.origin, maxBytes: 999 })).toMatchObject({ kind: 'too_large' })
    },
  )

  it('holds on the wire for bytes that would decode to less', async () => {
    const padded = Buffer.concat(Array.from({ length: 100 }, () => zlib.gzipSync('')))
    const server = await serveEncoded(padded, 'gzip')
    expect(await fetchLocal({ url: server.origin, maxBytes: padded.length })).toMatchObject({ ok: true })
    expect(await fetchLocal({ url: server.origin, maxBytes: padded.length - 1 })).toMatchObject({
      kind: 'too_large',
    })
  })

  it('is 10 MB unless said otherwise', async () => {
    const server = await serveHttp((request, response) =>
      response.end(Buffer.alloc(Number(request.url?.slice(1)))),
    )
    expect(await fetchLocal({ url: `${server.origin}/10000000` })).toMatchObject({ ok: true })
    expect(await fetchLocal({ url: `${server.origin}/10000001` })).toMatchObject({ kind: 'too_large' })
  })

  it('R5: a declared 1 GB is refused unread', async () => {
    const server = await serveBytes(head('content-length: 1000000000') + 'x', 'hang')
    expect(await fetchLocal({ url: server.origin, timeoutMs: 5_000 })).toMatchObject({ kind: 'too_large' })
    await expect.poll(() => server.open()).toBe(0)
  })

  it('R5: an endless body is cut off and its connection ended', async () => {
    let written = 0
    const server = await serveHttp((_, response) => {
      const chunk = Buffer.alloc(65_536)
      const pump = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length
      }
      response.on('drain', pump)
      pump()
    })
    expect(await fetchLocal({ url: server.origin, maxBytes: 1_000_000 })).toMatchObject({ kind: 'too_large' })
    await expect.poll(() => server.open()).toBe(0)
    expect(written).toBeLessThan(20_000_000)
  })

  it('R5: answers that arrive at once share a limit, and the largest is given up for the others', async () => {
    const server = await serveHttp((request, response) => {
      response.writeHead(200)
      const isSmall = request.url === '/small'
      response.write(Buffer.alloc(isSmall ? 1000 : 400_000), () => {
        if (isSmall) response.end()
      })
    })
    const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, maxHeldBytes: 1_000_000 })
    onTestFinished(egress.close)
    const patience = new AbortController()
    const slow = Array.from({ length: 5 }, () =>
      egress.fetch({ url: `${server.origin}/large`, signal: patience.signal }),
    )
    const ended: string[] = []
    for (const call of slow) void call.then((result) => ended.push(result.ok ? 'answered' : result.kind))
    await expect.poll(() => ended).toEqual(['busy', 'busy', 'busy'])
    expect(await egress.fetch({ url: `${server.origin}/small` })).toMatchObject({ ok: true })
    patience.abort()
    const kinds = (await Promise.all(slow)).map((result) => (result.ok ? 'answered' : result.kind))
    expect(kinds.toSorted()).toEqual(['aborted', 'aborted', 'busy', 'busy', 'busy'])
  })

  it('F73: all clients of a process share one limit of 128 MB', async () => {
    const server = await serveHttp((_, response) => {
      response.writeHead(200)
      response.write(Buffer.alloc(9_000_000))
    })
    const patience = new AbortController()
    const ended: string[] = []
    const clients = Array.from({ length: 4 }, () => createLocalEgress())
    const calls = Array.from({ length: 16 }, (_, n) => {
      const call = (clients[n % 4] as Egress).fetch({ url: server.origin, signal: patience.signal })
      void call.then((result) => ended.push(result.ok ? 'answered' : result.kind))
      return call
    })
    await expect.poll(() => ended, { timeout: 20_000 }).toEqual(['busy', 'busy'])
    patience.abort()
    await Promise.all(calls)
  })

  it('I4: what comes on a bare connection counts with the answers, and 16 MB of it at most', async () => {
    const flood = await serveRaw((socket) => void socket.write(Buffer.alloc(700_000)))
    const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, maxHeldBytes: 1_000_000 })
    onTestFinished(egress.close)
    const causes: unknown[] = []
    for (let n = 0; n < 2; n += 1) {
      const opened = await egress.connect({ host: '127.0.0.1', port: flood.port })
      if (!opened.ok) throw new Error(opened.message)
      opened.socket.on('error', (cause) => causes.push(cause)).resume()
    }
    await expect.poll(() => causes).toMatchObject([{ kind: 'busy' }])
    const large = await serveRaw((socket) => void socket.write(Buffer.alloc(40_000_000)))
    const opened = await createLocalEgress().connect({ host: '127.0.0.1', port: large.port })
    if (!opened.ok) throw new Error(opened.message)
    let taken = 0
    opened.socket.on('data', (chunk: Buffer) => (taken += chunk.length))
    const [cause] = await once(opened.socket, 'error').catch((error: unknown) => [error])
    expect(cause).toMatchObject({ kind: 'too_large', message: 'the answer is larger than 16000000 bytes.' })
    expect(taken).toBeLessThanOrEqual(16_000_000)
  })

  it.each(['gzip', 'br', 'zstd', 'gzip, gzip'])(
    'R5: a %s bomb stops at the limit with bounded memory',
    async (encoding) => {
      const bomb = makeBomb(encoding)
      const server = await serveEncoded(bomb, encoding)
      const egress = createLocalEgress()
      const watch = watchMemory()
      const result = await egress.fetch({ url: server.origin, maxBytes: 2_000_000 })
      expect(result).toMatchObject({ ok: false, kind: 'too_large' })
      expect(watch.peakGrowth()).toBeLessThan(32_000_000)
    },
  )

  it('holds for the headers', async () => {
    const fits = await serveBytes(head(`x: ${'a'.repeat(60_000)}\r\ncontent-length: 0`))
    expect(await fetchLocal({ url: fits.origin })).toMatchObject({ ok: true })
    const exceeds = await serveBytes(head(`x: ${'a'.repeat(70_000)}\r\ncontent-length: 0`))
    expect(await fetchLocal({ url: exceeds.origin })).toMatchObject({ ok: false, kind: 'too_large' })
    const many = await serveBytes(head(`${'x: a\r\n'.repeat(40_000)}content-length: 0`))
    expect(await fetchLocal({ url: many.origin })).toMatchObject({ ok: false, kind: 'too_large' })
  })
})

/** Returns 200 MB to 1 GB of zeros in about 1 MB or less. */
function makeBomb(encoding: string): Buffer {
  if (encoding === 'br') return zlib.brotliCompressSync(Buffer.alloc(200_000_000), FAST_BROTLI)
  if (encoding === 'zstd') return zlib.zstdCompressSync(Buffer.alloc(200_000_000))
  const member = zlib.gzipSync(Buffer.alloc(10_000_000))
  const bomb = Buffer.concat(Array.from({ length: 100 }, () => member))
  return encoding === 'gzip' ? bomb : zlib.gzipSync(bomb)
}

/**
 * Measures the external memory. Collects garbage first, because making a bomb leaves more garbage than
 * reading it may use.
 */
function watchMemory() {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const start = process.memoryUsage().external
  let peak = start
  const sample = () => (peak = Math.max(peak, process.memoryUsage().external))
  const timer = setInterval(sample, 1)
  onTestFinished(() => clearInterval(timer))
  return { peakGrowth: () => sample() - start }
}

describe('the time limit', () => {
  it('ends a body of one byte per interval, and its connection', async () => {
    const server = await serveHttp((_, response) => {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    })
    const result = await fetchLocal({ url: server.origin, timeoutMs: 300 })
    expect(result).toMatchObject({ ok: false, kind: 'timeout', retryable: true })
    expect(!result.ok && result.message).toBe(
      `${server.origin}: no complete answer within 300 ms. Try again later.`,
    )
    expect(result.ms).toBeGreaterThanOrEqual(295)
    await expect.poll(() => server.open()).toBe(0)
  })

  it('ends a server that never answers, and one that stops within its headers', async () => {
    for (const server of [
      await serveHttp(() => undefined),
      await serveBytes('HTTP/1.1 200 OK\r\nx: ', 'hang'),
    ]) {
      expect(await fetchLocal({ url: server.origin, timeoutMs: 200 })).toMatchObject({ kind: 'timeout' })
      await expect.poll(() => server.open()).toBe(0)
    }
  })

  it('ends a flood of interim answers', async () => {
    const server = await serveRaw((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await fetchLocal({ url: server.origin, timeoutMs: 200 })).toMatchObject({ kind: 'timeout' })
    await expect.poll(() => server.open()).toBe(0)
  })

  it('counts resolving', async () => {
    const egress = createLocalEgress(() => new Promise(() => undefined))
    expect(await egress.fetch({ url: 'http://slow.internal/', timeoutMs: 100 })).toMatchObject({
      kind: 'timeout',
    })
  })

  it('counts all redirects together', async () => {
    let asked = 0
    const server = await serveHttp((_, response) => {
      asked += 1
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 80)
    })
    const result = await fetchLocal({ url: server.origin, timeoutMs: 200, maxRedirects: 20 })
    expect(result).toMatchObject({ ok: false, kind: 'timeout' })
    expect(asked).toBeLessThanOrEqual(3)
  })

  it('does not wait for the body of a redirect, and leaves none behind', async () => {
    const server = await serveHttp((request, response) => {
      if (request.url === '/to') response.end('ok')
      else response.writeHead(302, { location: '/to' }).write('x')
    })
    const result = await fetchLocal({ url: server.origin, timeoutMs: 5_000 })
    expect(result).toMatchObject({ ok: true, redirects: 1 })
    await expect.poll(() => server.open()).toBeLessThanOrEqual(1)
  })
})

describe('the signal of a caller', () => {
  it('ends a call before it starts, while it resolves, waits, and reads', async () => {
    const server = await serveHttp((request, response) => {
      if (request.url === '/body') response.write('x')
    })
    const egress = createLocalEgress((host) =>
      host === 'slow.internal' ? new Promise(() => undefined) : Promise.resolve(['127.0.0.1']),
    )
    const started = await egress.fetch({ url: server.origin, signal: AbortSignal.abort() })
    expect(started).toMatchObject({ ok: false, kind: 'aborted', retryable: false })
    expect(server.accepted()).toBe(0)
    for (const url of ['http://slow.internal/', `${server.origin}/head`, `${server.origin}/body`]) {
      const result = await egress.fetch({ url, signal: AbortSignal.timeout(100) })
      expect(result).toMatchObject({ ok: false, kind: 'aborted' })
    }
    await expect.poll(() => server.open()).toBe(0)
  })
})
