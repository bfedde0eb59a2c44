import zlib from 'node:zlib'
import { onTestFinished } from 'vitest'
import { serveHttp, serveRaw } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from '../addresses.ts'
import { createEgress, type Egress } from '../egress.ts'
import type { EgressRequest } from '../request.ts'

export function createLocalEgress(resolve?: (host: string) => Promise<string[]>): Egress {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, ...(resolve && { resolve }) })
  onTestFinished(egress.close)
  return egress
}

export const fetchLocal = (request: EgressRequest) => createLocalEgress().fetch(request)

/** Starts a server that sends these bytes on every connection, then closes, resets or hangs. */
export const serveBytes = (bytes: string | Buffer, ending: 'close' | 'reset' | 'hang' = 'close') =>
  serveRaw((socket) =>
    socket.once('data', () => {
      socket.write(bytes)
      setTimeout(() => {
        if (ending === 'close') socket.end()
        if (ending === 'reset') socket.resetAndDestroy()
      }, 20)
    }),
  )

export const head = (headers: string) => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`

export const ENCODERS: Record<string, (data: Buffer) => Buffer> = {
  identity: (data) => data,
  gzip: (data) => zlib.gzipSync(data),
  'x-gzip': (data) => zlib.gzipSync(data),
  deflate: (data) => zlib.deflateSync(data),
  br: (data) => zlib.brotliCompressSync(data),
  zstd: (data) => zlib.zstdCompressSync(data),
}

export const serveEncoded = (body: Buffer, encoding: string) =>
  serveHttp((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body))
