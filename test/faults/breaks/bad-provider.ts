import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** The behaviour of a provider for one request. `call` numbers the requests of the same caller, from 1. */
type Behaviour = (response: ServerResponse, call: number) => void

const JSON_TYPE = { 'content-type': 'application/json' }
const GOOD = JSON.stringify({ contact: { email: 'jane@example.com' }, items: [{ id: 1 }] })
const MB = 1024 * 1024
const PIECE = Buffer.alloc(64 * 1024, 'x')

/** A gzip bomb: 128 MB in about 600 KB, more than any client reads. */
const bomb = gzipSync(Buffer.alloc(128 * MB, '0'), { level: 1 })

const endWith =
  (status: number, headers: Record<string, string>, body: string | Buffer = ''): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body)

/** Sends a body without a declared length for as long as the client reads it. */
const sendEndlessly: Behaviour = (response) => {
  response.writeHead(200, JSON_TYPE)
  let left = 1024 * MB
  const send = () => {
    while (left > 0 && !response.destroyed) {
      left -= PIECE.length
      if (!response.write(PIECE)) return
    }
    response.end()
  }
  response.on('drain', send)
  send()
}

/** Sends a byte per second. The connection ends when the caller gives up. */
const dawdle: Behaviour = (response) => {
  response.writeHead(200, JSON_TYPE).write('[')
  const timer = setInterval(() => response.write('0'), 1000)
  response.on('close', () => clearInterval(timer))
}

export const BEHAVIOURS = {
  '429 with Retry-After': (response, call) =>
    call === 1
      ? response.writeHead(429, { 'retry-after': '1' }).end()
      : response.writeHead(200, JSON_TYPE).end(GOOD),
  '429 without Retry-After': endWith(429, {}),
  '500': endWith(500, {}, 'down'),
  reset: (response) => response.socket?.resetAndDestroy(),
  hang: () => undefined,
  'a byte a second': dawdle,
  'a body of 1 GB': sendEndlessly,
  'a declared 1 GB': (response) =>
    response.writeHead(200, { ...JSON_TYPE, 'content-length': String(1024 * MB) }).write('[0'),
  'a gzip bomb': endWith(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, bomb),
  'a wrong type': endWith(200, { 'content-type': 'image/png' }, Buffer.from('89504e470d0a1a0a', 'hex')),
  'bad UTF-8': endWith(200, JSON_TYPE, Buffer.from('7b2261223a22c328ff227d', 'hex')),
  NUL: endWith(200, JSON_TYPE, '{"a\\u0000":"b\\u0000c"}'),
  'deep JSON': endWith(200, JSON_TYPE, '['.repeat(1_000_000)),
  'a redirect loop': (response) => response.writeHead(302, { location: response.req.url ?? '/' }).end(),
} satisfies Record<string, Behaviour>
export type Fault = keyof typeof BEHAVIOURS

const isFault = (name: string): name is Fault => Object.hasOwn(BEHAVIOURS, name)

/** Serves a provider that behaves as the first part of the path requests, or else the bearer token. */
export async function serveBadProvider() {
  const calls = new Map<string, number[]>()
  const server = createServer((request, response) => {
    request.resume()
    const place = decodeURIComponent(request.url?.split('/')[1] ?? '')
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const fault = isFault(place) ? place : token
    if (!isFault(fault)) throw new Error(`nobody knows ${request.url}`)
    const caller = `${fault} ${request.url}`
    const before = calls.get(caller) ?? []
    calls.set(caller, [...before, Date.now()])
    BEHAVIOURS[fault](response, before.length + 1)
  })
  // Broken connections are intended.
  server.on('clientError', (_cause, socket) => socket.destroy())
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Returns the times at which it was called with this path, in milliseconds. */
    callsAt: (fault: Fault, path: string) => calls.get(`${fault} ${path}`) ?? [],
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
