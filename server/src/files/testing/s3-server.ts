import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { HttpRequest } from '@smithy/types'

export const CREDENTIALS = { accessKeyId: 'AKIATEST', secretAccessKey: 'a secret key for tests only' }
export const REGION = 'eu-test-1'
export const BUCKET = 'loam-files'

const signer = new SignatureV4({
  credentials: CREDENTIALS,
  region: REGION,
  service: 's3',
  sha256: Sha256,
  uriEscapePath: false,
  applyChecksum: false,
})

export type S3Server = {
  url: string
  objects: Map<string, Buffer>
  /** The times at which objects were written, for tests that need them. */
  times: Map<string, Date>
  /** The multipart uploads that were neither completed nor aborted. */
  uploads: Map<string, Map<number, Buffer>>
  /** The method and query of each request, in order. */
  requests: string[]
  close(): Promise<void>
}

/** Serves the part of S3 that files need, path style, on loopback. Requests with a wrong signature are refused. */
export async function startS3Server(): Promise<S3Server> {
  const objects: S3Server['objects'] = new Map()
  const times: S3Server['times'] = new Map()
  const uploads: S3Server['uploads'] = new Map()
  const requests: string[] = []
  const server = createServer((request, response) => {
    void answer(request, response).catch((cause: unknown) => response.writeHead(500).end(String(cause)))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://s3.test')
    const body = await buffer(request)
    requests.push(`${request.method} ${[...url.searchParams.keys()].sort().join('&')}`.trim())
    if (!(await isSigned(request, url, body))) return refuse(response, 403, 'SignatureDoesNotMatch')
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/')
    if (bucket !== BUCKET) return refuse(response, 404, 'NoSuchBucket')
    const key = rest.join('/')
    const uploadId = url.searchParams.get('uploadId')
    const parts = uploads.get(uploadId ?? '')
    if (uploadId !== null && parts === undefined) return refuse(response, 404, 'NoSuchUpload')
    const { method = '' } = request
    switch (method) {
      case 'POST':
        if (parts === undefined) {
          const id = randomUUID()
          uploads.set(id, new Map())
          const xml = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
          return void response.end(xml)
        }
        objects.set(key, Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part)))
        uploads.delete(uploadId ?? '')
        return void response.end(
          '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>',
        )
      case 'PUT':
        if (parts === undefined) objects.set(key, body)
        else parts.set(Number(url.searchParams.get('partNumber')), body)
        return void response.setHeader('etag', '"x"').end()
      case 'DELETE':
        if (uploadId === null) objects.delete(key)
        else uploads.delete(uploadId)
        return void response.writeHead(204).end()
      case 'HEAD':
      case 'GET':
        return url.searchParams.get('list-type') === '2'
          ? list(response, url.searchParams, { objects, times })
          : send(request, response, objects.get(key))
      default:
        return refuse(response, 405, 'MethodNotAllowed')
    }
  }

  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    objects,
    times,
    uploads,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(request: IncomingMessage, response: ServerResponse, object: Buffer | undefined): void {
  if (object === undefined) return refuse(response, 404, 'NoSuchKey')
  const [, first = '0', last = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
  if (request.headers.range !== undefined && Number(first) >= object.length) {
    return refuse(response, 416, 'InvalidRange')
  }
  const part = object.subarray(Number(first), last === '' ? object.length : Number(last) + 1)
  response.writeHead(request.headers.range === undefined ? 200 : 206, {
    'content-length': part.length,
    etag: etagOf(object),
    ...(request.headers.range === undefined
      ? {}
      : { 'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${object.length}` }),
  })
  response.end(request.method === 'HEAD' ? undefined : part)
}

const etagOf = (object: Buffer) => `"${createHash('md5').update(object).digest('hex')}"`

/** The number of objects in a listing: two, so that a list has several pages. */
const LISTED = 2

function list(
  response: ServerResponse,
  query: URLSearchParams,
  { objects, times }: Pick<S3Server, 'objects' | 'times'>,
): void {
  const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? '']
  const keys = [...objects.keys()].sort().filter((key) => key.startsWith(prefix) && key > after)
  const contents = keys.slice(0, LISTED).map((key) => {
    const time = (times.get(key) ?? new Date(0)).toISOString()
    const etag = etagOf(objects.get(key) ?? Buffer.alloc(0)).replaceAll('"', '&quot;')
    return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${time}</LastModified><ETag>${etag}</ETag></Contents>`
  })
  const isCut = keys.length > LISTED
  response.end(`<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${contents.join('')}</ListBucketResult>`)
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}

/** Signs the request again with the same headers and date, and compares. The body must be the signed one. */
async function isSigned(request: IncomingMessage, url: URL, body: Buffer): Promise<boolean> {
  const given = request.headers.authorization ?? ''
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? []
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')]))
  const stamp = headers['x-amz-date'] ?? ''
  const date = stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  if (date === stamp) return false
  const copy: HttpRequest = {
    method: request.method ?? '',
    protocol: 'http:',
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers,
  }
  const signed = await signer.sign(copy, {
    signingDate: new Date(date),
    signableHeaders: new Set(names),
  })
  const hash = request.headers['x-amz-content-sha256']
  const bodyHash = createHash('sha256').update(body).digest('hex')
  return signed.headers['authorization'] === given && (hash === bodyHash || hash === 'UNSIGNED-PAYLOAD')
}
