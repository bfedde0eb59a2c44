import { createHash } from 'node:crypto'
import { MAX_ROW_BYTES } from '#contract/rows.ts'
import type { Provider } from '../catalog/provider/provider.ts'
import { type Refusal, refusal } from '../catalog/provider/reply.ts'
import { toStorableJson } from '../lib/json/storable.ts'
import { createTurns } from '../lib/timing/turns.ts'
import type { Source } from './define.ts'
import { readerOf } from './model-reader.ts'
import { askThrough, NO_KEY, type Reached, type SourceServices } from './reach.ts'
import { printKey } from './rows.ts'

/** A record as it is stored. `data` is JSON text, and `hash` tells whether it has changed. */
export type PulledRecord = { key: string; data: string; hash: string }

export type PulledPage = {
  records: PulledRecord[]
  /** Records that do not have the fields of a row, such as masked ones. */
  skipped: number
  /** A model found something on it. */
  isReadByModel: boolean
  next: unknown
  resume: unknown
  total: number | null
  capped: boolean
  afterMs: number
}

/** More than any row has inputs. */
const MAX_FIELDS = 2000
/** Of JSON, that a place to go on from may take: it is stored with every page. */
const MAX_STATE_CHARS = 500_000

type Where = { body: Record<string, unknown>; state: unknown; limit: number; notBefore?: Date | null }

/** Reads one page and makes records of what fits in turns with others; of two with one key on a page the first counts. */
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
  const readByModel = model === null ? null : readerOf(model, services)
  const lent = { key, env, context, ask, askKeyless, readByModel }
  const answer = await pull.read({ body, state, limit, notBefore, ...lent })
  // "There is none" is an empty last page, and no fault.
  const page = 'kind' in answer && answer.kind === 'miss' ? { records: [], next: null } : answer
  if ('kind' in page) return page
  if ([page.next, page.resume].some((state) => (JSON.stringify(state)?.length ?? 0) > MAX_STATE_CHARS)) {
    return refusal('ineligible', 'it takes too many characters to say where its next page is')
  }
  const pause = createTurns()
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

/** Null for what has not the fields of a row, or more than a row may hold. */
function readRecord(source: Source, key: string, row: Record<string, unknown>): PulledRecord | null {
  if (Object.keys(row).length > MAX_FIELDS) return null
  const parsed = source.row.safeParse(row)
  if (!parsed.success) return null
  const record = toRecord(key, parsed.data)
  return Buffer.byteLength(record.data) > MAX_ROW_BYTES ? null : record
}

/** A row as it is stored. */
export function toRecord(key: string, row: Record<string, unknown>): PulledRecord {
  const data = toStorableJson(row)
  return { key, data, hash: createHash('sha256').update(data).digest('base64url').slice(0, 22) }
}

/** How far a walk over pages has come. Kept with the state, so that it outlives a crash. */
export type Progress = {
  pages: number
  /** Pages in a row that held nothing. */
  empty: number
  /** Hash of a state that was passed; moved on at 1, 2, 4, 8 ... pages, so that any cycle meets it (Brent). */
  landmark: string
}

export const START: Progress = { pages: 0, empty: 0, landmark: '' }

/** Empty pages in the middle are common; endless ones are not. */
export const MAX_EMPTY_PAGES = 100

export type Step =
  | { goesOn: true; progress: Progress }
  /** `note` says why it ended before the provider said so. */
  | { goesOn: false; note: string | null }

/** Decides after a page whether there is a next one. `state` is where the page started. */
export function stepOn(
  progress: Progress,
  state: unknown,
  page: Pick<PulledPage, 'next' | 'records' | 'skipped'>,
): Step {
  if (page.next === null || page.next === undefined) return { goesOn: false, note: null }
  const here = hashState(state)
  const there = hashState(page.next)
  if (there === here || there === progress.landmark) {
    return { goesOn: false, note: 'the provider named a page that was read already; the pull ended there' }
  }
  const pages = progress.pages + 1
  const empty = page.records.length + page.skipped === 0 ? progress.empty + 1 : 0
  if (empty >= MAX_EMPTY_PAGES) {
    return { goesOn: false, note: `${MAX_EMPTY_PAGES} pages in a row were empty; the pull ended there` }
  }
  const isPowerOfTwo = (pages & (pages - 1)) === 0
  return { goesOn: true, progress: { pages, empty, landmark: isPowerOfTwo ? there : progress.landmark } }
}

function hashState(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('base64url')
    .slice(0, 16)
}
