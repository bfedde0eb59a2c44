import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from './addresses.ts'
import { createEgress } from './egress.ts'

const WHOLE = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 251))

function makeEgress() {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
  onTestFinished(() => egress.close())
  return egress
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('a part of a body', () => {
  it.each([
    ['in the middle', 500, 1000, true],
    ['at the end', 99_500, 1000, false],
    ['up to the very end', 99_000, 1000, false],
  ])('is asked for as a range: %s', async (_where, start, size, more) => {
    const asked: unknown[] = []
    const { origin } = await serveHttp((request, response) => {
      asked.push(request.headers.range, request.headers['accept-encoding'])
      const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      const part = WHOLE.subarray(Number(first), Number(last) + 1)
      response.writeHead(206, {
        'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${WHOLE.length}`,
      })
      response.end(part)
    })
    const reply = await makeEgress().fetch({ url: origin, part: { start, size } })
    expect(reply).toMatchObject({ ok: true, status: 206, more })
    expect(asked).toEqual([`bytes=${start}-${start + size - 1}`, 'identity'])
    expect(reply.ok && hash(reply.body)).toBe(hash(WHOLE.subarray(start, start + size)))
  })

  it.each([
    ['in the middle', { start: 70_000, size: 1000 }, 71_000, true],
    ['up to the very end', { start: 99_000, size: 1000 }, 100_000, false],
    ['as much as is of use', { start: 10, size: 10, sizeOfWhole: 50_000 }, 50_010, true],
    ['behind the end', { start: 200_000, size: 10 }, 100_000, false],
  ])(
    'of a server that sends everything is cut out, %s, whatever its length',
    async (_where, part, end, more) => {
      const { origin } = await serveHttp((_request, response) => {
        response.writeHead(200, { 'content-length': WHOLE.length })
        for (let at = 0; at < WHOLE.length; at += 7001) response.write(WHOLE.subarray(at, at + 7001))
        response.end()
      })
      const reply = await makeEgress().fetch({ url: origin, part, maxBytes: 5000 })
      expect(reply).toMatchObject({ ok: true, status: 200, more })
      expect(reply.ok && hash(reply.body)).toBe(hash(WHOLE.subarray(part.start, end)))
    },
  )

  it('of a body without an end is cut off, and the connection with it', async () => {
    const { origin, open } = await serveHttp((_request, response) => {
      const send = () => {
        while (!response.destroyed && response.write(WHOLE));
        response.once('drain', send)
      }
      send()
    })
    const reply = await makeEgress().fetch({ url: origin, part: { start: 1_000_000, size: 10 } })
    expect(reply).toMatchObject({ ok: true, more: true })
    await expect.poll(open).toBe(0)
  })

  it.each([
    ['another part', 206, { 'content-range': 'bytes 0-9/100' }],
    ['compressed', 200, { 'content-encoding': 'gzip' }],
  ])('is refused when what comes is %s', async (_what, status, headers) => {
    const { origin } = await serveHttp((_request, response) => {
      response.writeHead(status, headers)
      response.end(gzipSync(WHOLE))
    })
    const reply = await makeEgress().fetch({ url: origin, part: { start: 5, size: 10 } })
    expect(reply).toMatchObject({ ok: false, kind: 'protocol', retryable: false })
  })

  it('leaves other answers as they are', async () => {
    const { origin } = await serveHttp((_request, response) => {
      response.writeHead(404)
      response.end('there is nothing here')
    })
    const reply = await makeEgress().fetch({ url: origin, part: { start: 5, size: 2 } })
    expect(reply.ok && [reply.status, await reply.text(), reply.more]).toEqual([
      404,
      'there is nothing here',
      false,
    ])
  })
})
