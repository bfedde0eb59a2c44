import { createHash, createHmac } from 'node:crypto'

export type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined }

const EMPTY = createHash('sha256').update('').digest('hex')

/**
 * Returns the headers that sign a GET without a body:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 * `url` is the address as it is sent.
 */
export function signGet(
  url: URL,
  region: string,
  credentials: Credentials,
  now: Date,
): Record<string, string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const signed = {
    host: url.host,
    'x-amz-content-sha256': EMPTY,
    'x-amz-date': stamp,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  // In the order of their names.
  const names = Object.keys(signed).join(';')
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`)
  const query = [...url.searchParams]
    .map(([name, value]) => `${escapePart(name)}=${escapePart(value)}`)
    .sort()
    .join('&')
  const request = ['GET', url.pathname, query, lines.join(''), names, EMPTY].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', stamp, scope, createHash('sha256').update(request).digest('hex')].join(
    '\n',
  )
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  const { host: _host, ...headers } = signed
  const signature = hmac(key, text).toString('hex')
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

/** Escapes everything except letters, digits and `-._~`, which is more than encodeURIComponent does. */
export function escapePart(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
