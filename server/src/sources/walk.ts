import { createHash } from 'node:crypto'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import { type Refusal, refusal } from '../catalog/provider/reply.ts'
import { toStorableJson } from '../lib/json/storable.ts'
import { pause } from '../lib/timing/turns.ts'
import type { Source } from './define.ts'
import { createModelReader } from './model-reader.ts'
import { askThrough, NO_KEY, type Reached, type SourceServices } from './reach.ts'
import { printKey } from './rows.ts'

/** A record as it is stored. `data` is JSON text; a changed `hash` means changed data. */
export type PulledRecord = { key: string; data: string; hash: string }

export type PulledPage = {
  records: PulledRecord[]
  /** The number of records without the required fields, such as masked ones. */
  skipped: number
  /** Set if a model found records on the page. */
  isReadByModel: boolean
  next: unknown
  resume: unknown
  total: number | null
  capped: boolean
  afterMs: number
}

/** The maximum number of fields in a record: more than a row has inputs. */
const MAX_FIELDS = 2000
/** The maximum length of a page state as JSON. The state is stored with every page. */
const MAX_STATE_CHARS = 500_000

type Where = { body: Record<string, unknown>; state: unknown; limit: number; notBefore?: Date | null }

/**
 * Reads one page and builds records from the rows that fit. It lets other work run in between. If two rows have the
 * same key, the first is kept.
 */
export async function readPage(
  source: Source,
  reached: Reached,
  { body, state, limit, notBefore = null }: Where,
  services: SourceServices,
): Promise<PulledPage | Refusal> {
  const { pull, key, env, model } = reached
  const { gate: _gate, ...context } = services
  const ask = askThrough(pull.provider, key, services)
  const askKeyless = (provider: Provider) => askThrough(provider, NO_KEY, services)
  const readByModel = model === null ? null : createModelReader(model, services)
  const lent = { key, env, context, ask, askKeyless, readByModel }
  const answer = await pull.read({ body, state, limit, notBefore, ...lent })
  // "Not found" means an empty last page. It is no error.
  const page = 'kind' in answer && answer.kind === 'miss' ? { records: [], next: null } : answer
  if ('kind' in page) return page
  if ([page.next, page.resume].some((state) => (JSON.stringify(state)?.length ?? 0) > MAX_STATE_CHARS)) {
    return refusal(
      'ineligible',
      `the position of its next page has more than ${MAX_STATE_CHARS} characters of JSON`,
    )
  }
  const records = new Map<string, PulledRecord>()
  let skipped = 0
  for (const { key: given, row } of page.records) {
    await pause()
    const name = printKey(given)
    if (records.has(name)) continue
    const record = readRecord(source, name, row)
    if (record === null) skipped += 1
    else records.set(name, record)
  }
  return {
    records: [...records.values()],
    skipped,
    isReadByModel: model !== null && records.size > 0,
    next: page.next,
    resume: page.resume ?? null,
    total: page.total ?? null,
    capped: page.capped ?? false,
    afterMs: page.afterMs ?? 0,
  }
}

/** Returns null if the row lacks required fields or is too large. */
function readRecord(source: Source, key: string, row: Record<string, unknown>): PulledRecord | null {
  if (Object.keys(row).length > MAX_FIELDS) return null
  const parsed = source.row.safeParse(row)
  if (!parsed.success) return null
  const record = toRecord(key, parsed.data)
  return Buffer.byteLength(record.data) > MAX_ROW_BYTES ? null : record
}

/** Builds the stored form of a row. */
export function toRecord(key: string, row: Record<string, unknown>): PulledRecord {
  const data = toStorableJson(row)
  return { key, data, hash: createHash('sha256').update(data).digest('base64url').slice(0, 22) }
}

/** The progress of a walk over pages. It is stored with the state, so that it survives a crash. */
export type Progress = {
  pages: number
  /** The number of consecutive empty pages. */
  empty: number
  /** The hash of an earlier state. It moves on after 1, 2, 4, 8 ... pages, so that every cycle is detected (Brent). */
  landmark: string
}

export const START: Progress = { pages: 0, empty: 0, landmark: '' }

/** The maximum number of consecutive empty pages. A few empty pages are common; endless ones are a fault. */
export const MAX_EMPTY_PAGES = 100

export type Step =
  | { goesOn: true; progress: Progress }
  /** `note` says why the walk ended early. Null if the provider ended it. */
  | { goesOn: false; note: string | null }

/** Decides whether to read another page. `state` is the state that the page was read from. */
export function stepOn(
  progress: Progress,
  state: unknown,
  page: Pick<PulledPage, 'next' | 'records' | 'skipped'>,
): Step {
  if (page.next === null || page.next === undefined) return { goesOn: false, note: null }
  const current = hashState(state)
  const next = hashState(page.next)
  if (next === current || next === progress.landmark) {
    return { goesOn: false, note: 'the provider returned a page that was read already; the pull ended there' }
  }
  const pages = progress.pages + 1
  const empty = page.records.length + page.skipped === 0 ? progress.empty + 1 : 0
  if (empty >= MAX_EMPTY_PAGES) {
    return { goesOn: false, note: `${MAX_EMPTY_PAGES} pages in a row were empty; the pull ended there` }
  }
  const isPowerOfTwo = (pages & (pages - 1)) === 0
  return { goesOn: true, progress: { pages, empty, landmark: isPowerOfTwo ? next : progress.landmark } }
}

function hashState(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('base64url')
    .slice(0, 16)
}
