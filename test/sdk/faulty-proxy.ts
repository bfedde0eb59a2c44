import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { type LoopbackServer, serveHttp } from '../doubles/loopback-server.ts'

/** The way the proxy treats one request. `pass` is also what follows the listed faults. */
export type Fault =
  | 'pass'
  /** The connection ends before the server is asked. */
  | 'refuse'
  /** The server does its work, and the connection ends before its answer. */
  | 'cut'
  /** The answer ends in the middle, as if it were complete. */
  | 'truncate'
  /** The answer ends in the middle of what its length says. */
  | 'cut body'
  /** The answer never comes. */
  | 'hang'
  | { status: number; headers?: Record<string, string>; body?: string }

export type FaultyProxy = LoopbackServer & {
  /** The requests so far. */
  requests: { method: string; path: string; key: string | undefined; headers: IncomingMessage['headers'] }[]
  /** Says what happens to the next requests. */
  next: (...faults: Fault[]) => void
}

/** Starts a proxy before a server that does what a bad network does. It is closed at the end of the test. */
export async function startFaultyProxy(origin: string): Promise<FaultyProxy> {
  const requests: FaultyProxy['requests'] = []
  let faults: Fault[] = []
  const server = await serveHttp((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    requests.push({ method, path: url, key: String(headers['idempotency-key']), headers })
    const fault = faults.shift() ?? 'pass'
    if (fault === 'refuse') outgoing.destroy()
    else if (typeof fault === 'object') {
      outgoing.writeHead(fault.status, fault.headers).end(fault.body ?? '')
    } else forward(origin, { incoming, outgoing, fault })
  })
  return { ...server, requests, next: (...given) => (faults = given) }
}

type Exchange = { incoming: IncomingMessage; outgoing: ServerResponse; fault: Fault }

function forward(origin: string, { incoming, outgoing, fault }: Exchange): void {
  const { method, url = '', headers } = incoming
  const upstream = request(`${origin}${url}`, { method, headers }, (answer) => {
    const isStream = String(answer.headers['content-type']).includes('event-stream')
    if (fault === 'pass' || isStream) {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
      outgoing.on('close', () => upstream.destroy())
      return
    }
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => spoil(answer, { outgoing, fault, body: Buffer.concat(chunks) }))
  })
  upstream.on('error', () => outgoing.destroy())
  incoming.pipe(upstream)
}

type Spoiled = { outgoing: ServerResponse; fault: Fault; body: Buffer }

function spoil(answer: IncomingMessage, { outgoing, fault, body }: Spoiled): void {
  const half = body.subarray(0, Math.floor(body.length / 2))
  if (fault === 'cut') outgoing.destroy()
  if (fault === 'truncate') {
    const { 'content-length': _length, ...headers } = answer.headers
    outgoing.writeHead(answer.statusCode ?? 500, headers).end(half)
  }
  if (fault === 'cut body') {
    outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, 'content-length': body.length })
    outgoing.write(half, () => outgoing.destroy())
  }
}
