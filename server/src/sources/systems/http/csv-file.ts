import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { parseReply, type Refusal, refusal, refusalOfFailure } from '../../../catalog/provider/reply.ts'
import { http } from '../../../catalog/providers/http/provider.ts'
import { FileFault } from '../../../lib/csv/file-fault.ts'
import type { EgressResponse } from '../../../lib/egress/response.ts'
import { definePull, type SourceContext } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { readCsvPage } from '../files/csv-page.ts'
import { type Chunk, FILE_START, FilePlace } from '../files/place.ts'
import { KeyColumn, keyRows } from '../files/row-keys.ts'
import { Address, fillIn, Headers, Parameters, variablesIn } from './template.ts'

export const csvRows = defineShape({
  body: {
    url: Address.describe('The URL of a CSV file in UTF-8 whose first row has the column names'),
    headers: Headers,
    query: Parameters,
    key_column: KeyColumn,
  },
  row: z.record(z.string(), z.unknown()),
})

/**
 * The position in a file. `version` is the server's name for the current content: a file that changes while it is read
 * is read again from its start.
 */
const State = z.object({
  version: z.string().nullable(),
  file: FilePlace.nullable(),
  restarts: z.int().nonnegative(),
})

const TIMEOUT_MS = 120_000
const MAX_RESTARTS = 5

export const csvFile = definePull(csvRows, http, {
  price: 0,
  state: State,
  async pull({ body, state, limit, context, env }) {
    const variables = await env()
    const headers = fillIn(body.headers, variables)
    const query = fillIn(body.query, variables)
    if (!headers.ok) return headers.refusal
    if (!query.ok) return query.refusal
    const { version: known = null, file = null, restarts = 0 } = state ?? {}
    const here = file ?? FILE_START
    const secrets = variablesIn([body.headers, body.query], variables).map(([, value]) => value)
    const request = { url: addTo(body.url, query.texts), headers: headers.texts, secrets }
    const part = await readPart(context, request, here, file === null ? known : null)
    if ('kind' in part) return part
    if (part.isUnchanged)
      return { records: [], next: null, resume: { version: known, file: null, restarts: 0 } }
    if (file !== null && part.version !== known) {
      if (restarts >= MAX_RESTARTS) {
        return {
          kind: 'error',
          message: `the file changed ${MAX_RESTARTS} times while it was read`,
          transient: true,
        }
      }
      return { records: [], next: { version: part.version, file: FILE_START, restarts: restarts + 1 } }
    }
    try {
      const { rows, next } = await readCsvPage(part, here, limit)
      return {
        records: keyRows(rows, body.key_column),
        next: next === null ? null : { version: part.version, file: next, restarts },
        resume: { version: part.version, file: null, restarts: 0 },
      }
    } catch (cause) {
      if (!(cause instanceof FileFault)) throw cause
      return refusal('ineligible', cause.message)
    }
  },
})

type Asked = { url: string; headers: Record<string, string>; secrets: readonly string[] }
type Part = Chunk & { version: string | null; isUnchanged: boolean }

/**
 * A cache of data from servers that cannot start in the middle of a file, so that not every page downloads it again.
 */
const ahead = new LRUCache<string, { start: number; part: Part }>({
  maxSize: 64_000_000,
  sizeCalculation: ({ part }) => part.bytes.length + 1,
  ttl: 60_000,
})
const AHEAD_BYTES = 16_000_000

async function readPart(
  context: SourceContext,
  { url, headers, secrets }: Asked,
  { byte, size }: FilePlace,
  known: string | null,
): Promise<Part | Refusal> {
  const name = JSON.stringify([url, headers])
  const kept = ahead.get(name)
  if (kept !== undefined && byte > 0 && kept.start <= byte) {
    const from = byte - kept.start
    const bytes = kept.part.bytes.subarray(from, from + size)
    const isInside = from + size <= kept.part.bytes.length
    if (bytes.length > 0 && (isInside || !kept.part.more)) {
      return {
        ...kept.part,
        bytes,
        more: isInside ? from + size < kept.part.bytes.length || kept.part.more : false,
      }
    }
  }
  const reply = await context.egress.fetch({
    url,
    headers: { ...headers, ...(known === null ? {} : { 'if-none-match': known }) },
    part: { start: byte, size, sizeOfWhole: AHEAD_BYTES },
    timeoutMs: TIMEOUT_MS,
    signal: context.signal,
  })
  if (!reply.ok) return refusalOfFailure(reply)
  const version = versionOf(reply)
  const nothing = { bytes: new Uint8Array(), more: false, version }
  if (reply.status === 304) return { ...nothing, isUnchanged: true }
  if (reply.status === 416) return { ...nothing, isUnchanged: false }
  if (reply.status !== 200 && reply.status !== 206) {
    const answer = parseReply(reply, z.unknown(), {
      rules: RULES,
      secrets: () => secrets,
      now: () => context.now(),
      json: await reply.json(),
    })
    return answer.ok
      ? refusal('error', `the server answered HTTP ${reply.status} instead of a file`)
      : answer.refusal
  }
  const part = { bytes: reply.body, more: reply.more, version, isUnchanged: false }
  if (reply.status === 206 || reply.body.length <= size) return part
  ahead.set(name, { start: byte, part })
  return { ...part, bytes: reply.body.subarray(0, size), more: true }
}

const RULES = { statuses: { 400: 'ineligible', 404: 'ineligible', 410: 'ineligible' } } as const

/** Returns the entity tag of a file. Without one, a change of the file cannot be detected. */
function versionOf(reply: EgressResponse): string | null {
  return reply.header('etag') ?? null
}

function addTo(address: string, parameters: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}
