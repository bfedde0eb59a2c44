import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { Storage } from './storage.ts'

/** The size of a part. A file has at most 10,000 parts (160 GB); two of them are in memory. */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_AT_ONCE = 2
const CONNECT_MS = 10_000
const SILENCE_MS = 120_000

export type S3Settings = {
  bucket: string
  /** The endpoint of a store other than Amazon's. */
  endpoint: string | undefined
  region: string
  /** The keys. Without them the SDK looks for its own: environment, profile, instance role. */
  accessKeyId: string | undefined
  secretAccessKey: string | undefined
  forcePathStyle: boolean | undefined
}

/** Opens a storage in a bucket. The SDK is loaded on first use. */
export function openS3Storage({ bucket: Bucket, ...settings }: S3Settings): Storage {
  let loaded: Promise<S3Client> | undefined
  const client = () => (loaded ??= connect(settings))
  async function size(Key: string): Promise<number | null> {
    const { HeadObjectCommand } = await import('@aws-sdk/client-s3')
    try {
      const { ContentLength } = await (await client()).send(new HeadObjectCommand({ Bucket, Key }))
      if (ContentLength === undefined) throw new Error(`the store did not return the size of ${Key}`)
      return ContentLength
    } catch (cause) {
      if (isAbsent(cause)) return null
      throw cause
    }
  }

  return {
    async write(Key, body) {
      const { Upload } = await import('@aws-sdk/lib-storage')
      let size = 0
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const bytes of body) {
          size += bytes.length
          yield bytes
        }
      }
      const upload = new Upload({
        client: await client(),
        params: { Bucket, Key, Body: Readable.from(counted(), { objectMode: false }) },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      })
      await upload.done()
      return size
    },

    async read(Key, { start = 0, end } = {}) {
      if (end !== undefined && end <= start) {
        return (await size(Key)) === null ? null : Readable.from([])
      }
      const Range =
        start === 0 && end === undefined ? undefined : `bytes=${start}-${end === undefined ? '' : end - 1}`
      const { GetObjectCommand } = await import('@aws-sdk/client-s3')
      try {
        const { Body } = await (await client()).send(new GetObjectCommand({ Bucket, Key, Range }))
        if (Body instanceof Readable) return Body
        throw new Error(`the store returned ${Key} without a body`)
      } catch (cause) {
        if (isAbsent(cause)) return null
        if (statusOf(cause) === 416) return Readable.from([])
        throw cause
      }
    },

    size,

    async remove(Key) {
      const { DeleteObjectCommand } = await import('@aws-sdk/client-s3')
      await (await client()).send(new DeleteObjectCommand({ Bucket, Key }))
    },
  }
}

async function connect(settings: Omit<S3Settings, 'bucket'>): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3')
  const { endpoint, region, accessKeyId, secretAccessKey, forcePathStyle } = settings
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: forcePathStyle ?? endpoint !== undefined,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    // Many compatible stores refuse requests that always carry checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
  })
}

/** Returns true if the file does not exist. A missing bucket is an error in the settings instead. */
function isAbsent(cause: unknown): boolean {
  return statusOf(cause) === 404 && !(cause instanceof Error && cause.name === 'NoSuchBucket')
}

function statusOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('$metadata' in cause)) return undefined
  const metadata = cause.$metadata
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}
