import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { type Refusal, refusal } from '../../../catalog/provider/reply.ts'
import { s3, S3Reply } from '../../../catalog/providers/s3/provider.ts'
import { FileFault } from '../../../lib/csv/file-fault.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { readCsvPage } from '../files/csv-page.ts'
import { readJsonlPage } from '../files/jsonl-page.ts'
import { FILE_START, FilePlace } from '../files/place.ts'
import { KeyColumn, keyRows } from '../files/row-keys.ts'
import { listObjects, type StoredObject } from './listing.ts'

export const objectRows = defineShape({
  body: {
    bucket: z
      .string()
      .trim()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
      .describe('The name of the bucket'),
    folder: z
      .string()
      .max(900)
      .transform((text) => text.replace(/^\/+/, ''))
      .describe('The prefix of the keys of the files, such as exports/2026/; default: all files')
      .default(''),
    format: z
      .enum(['csv', 'jsonl'])
      .describe(
        'The format of the files; by default .csv and .tsv files are CSV, .jsonl and .ndjson files JSON lines, and others are skipped',
      )
      .optional(),
    key_column: KeyColumn,
  },
  row: z.record(z.string(), z.unknown()),
})

/**
 * The position. Files are read in key order. `since` is a time before which earlier pulls have missed no file, `newest`
 * the time of this pull's newest file, and `reading` the current file.
 */
const State = z.object({
  since: z.string().nullable(),
  started: z.string().nullable(),
  newest: z.string().nullable(),
  after: z.string().nullable(),
  reading: z.object({ key: z.string(), etag: z.string(), modified: z.string(), place: FilePlace }).nullable(),
})
type State = z.infer<typeof State>
type Reading = NonNullable<State['reading']>

const START: State = { since: null, started: null, newest: null, after: null, reading: null }

/**
 * The overlap between pulls. A file added during a walk may sort before the current key; the margin also covers clock
 * differences.
 */
const LATE_MS = 5 * 60_000
/** The maximum number of listings without a wanted file that one page skips. */
const MAX_LISTS = 20

export const importedObjects = definePull(objectRows, s3, {
  price: 0,
  state: State,
  async pull({ body, state, limit, ask, context }) {
    const started = state?.started ?? new Date(context.now().getTime() - LATE_MS).toISOString()
    const here: State = { ...(state ?? START), started }
    const found = here.reading ?? (await findNext(ask, body, here))
    if ('kind' in found) return found
    if ('after' in found) {
      const next = found.isEnd ? null : { ...here, after: found.after }
      return { records: [], next, resume: resumeOf(here) }
    }
    const chunk = await readBytes(ask, body.bucket, found)
    if ('kind' in chunk) return chunk
    const onward = { ...here, after: found.key, newest: laterOf(here.newest, found.modified) }
    if (chunk.etag !== found.etag) {
      // The file was replaced while it was read. It is read again from its start.
      const next = { ...onward, reading: { ...found, etag: chunk.etag, place: FILE_START } }
      return { records: [], next }
    }
    try {
      const read = formatOf(found.key, body.format) === 'jsonl' ? readJsonlPage : readCsvPage
      const { rows, next: place } = await read(chunk, found.place, limit)
      const next = { ...onward, reading: place === null ? null : { ...found, place } }
      return { records: keyRows(rows, body.key_column), next, resume: resumeOf(next) }
    } catch (cause) {
      if (!(cause instanceof FileFault)) throw cause
      return refusal('ineligible', `${found.key}: ${cause.message}`)
    }
  },
})

type Folder = { bucket: string; folder: string; format?: 'csv' | 'jsonl' | undefined }

/** Returns the next wanted file, or how far the search got. */
async function findNext(
  ask: Ask,
  { bucket, folder: prefix, format }: Folder,
  { since, after: from }: State,
): Promise<Reading | { after: string | null; isEnd: boolean } | Refusal> {
  let after = from
  for (let lists = 0; lists < MAX_LISTS; lists += 1) {
    const listing = await listObjects(ask, { bucket, prefix, after })
    if ('kind' in listing) return listing
    const found = listing.objects.find((one) => isWanted(one, since, format))
    if (found !== undefined) return { ...found, place: FILE_START }
    after = listing.objects.at(-1)?.key ?? after
    if (!listing.isCut) return { after, isEnd: true }
  }
  return { after, isEnd: false }
}

/** Returns where the next pull starts. It reads files of the last minutes again; their known rows are only compared. */
function resumeOf({ since, newest, started }: State): State {
  const seen = laterOf(since, newest)
  return { ...START, since: seen !== null && started !== null && seen > started ? started : seen }
}

/** Returns the later time. Both are UTC texts of equal length, so they compare as texts. */
function laterOf(a: string | null, b: string | null): string | null {
  return (a ?? '') > (b ?? '') ? a : b
}

function formatOf(key: string, given: 'csv' | 'jsonl' | undefined): 'csv' | 'jsonl' | null {
  if (given !== undefined) return given
  if (/\.(csv|tsv)$/i.test(key)) return 'csv'
  return /\.(jsonl|ndjson)$/i.test(key) ? 'jsonl' : null
}

/**
 * Returns true if the file is to be read. Several files may share the newest time, so files of that time are read
 * again.
 */
function isWanted(
  { key, modified }: StoredObject,
  since: string | null,
  format: 'csv' | 'jsonl' | undefined,
): boolean {
  return !key.endsWith('/') && formatOf(key, format) !== null && (since === null || modified >= since)
}

async function readBytes(ask: Ask, bucket: string, { key, etag: known, place: { byte, size } }: Reading) {
  const request = { path: `/${bucket}/${key}`, json: { part: { start: byte, size } } }
  return ask(request, S3Reply, ({ status, bytes, more, etag }) =>
    // Status 416 means that there is nothing after the last byte.
    status === 416
      ? { bytes: new Uint8Array(), more: false, etag: known }
      : { bytes, more, etag: etag ?? known },
  )
}
