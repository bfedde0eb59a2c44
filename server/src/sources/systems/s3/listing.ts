import type { Ask } from '../../../catalog/provider/adapter.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { S3Reply } from '../../../catalog/providers/s3/provider.ts'

export type StoredObject = { key: string; etag: string; modified: string }
export type Listing = { objects: StoredObject[]; isCut: boolean }

const MAX_KEYS = 1000

/**
 * Lists the objects after a key, in key order: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
export function listObjects(
  ask: Ask,
  { bucket, prefix, after }: { bucket: string; prefix: string; after: string | null },
): Promise<Listing | Refusal> {
  const query = {
    'list-type': 2,
    'max-keys': MAX_KEYS,
    prefix,
    // Keys may contain characters that XML cannot.
    'encoding-type': 'url',
    'start-after': after ?? undefined,
  }
  return ask({ path: `/${bucket}`, query }, S3Reply, ({ bytes }) =>
    readListing(new TextDecoder().decode(bytes)),
  )
}

function readListing(xml: string): Listing {
  const objects = [...xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, entry = '']) => ({
    key: decodeURIComponent(textIn(entry, 'Key').replaceAll('+', ' ')),
    etag: textIn(entry, 'ETag').replaceAll('&quot;', '"'),
    modified: toTime(textIn(entry, 'LastModified')),
  }))
  return { objects, isCut: textIn(xml, 'IsTruncated') === 'true' }
}

/** Normalises a time: some stores leave out the milliseconds. */
function toTime(text: string): string {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? '' : time.toISOString()
}

const textIn = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? ''
