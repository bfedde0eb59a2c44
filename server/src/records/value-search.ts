import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { NO_ID } from '../lib/ids.ts'
import { fitEntities, type Match, searchEntities, searchValues } from './store/search.ts'

/** The maximum size of the fields on one page. A page may therefore have fewer records than requested. */
const MAX_PAGE_BYTES = 8 * 1024 ** 2
const LOOK = 2000
/** The time after which a page ends with what it has found. The next page goes on from there. */
const MAX_MS = 1000
const MAX_WORDS = 8

export type Wanted = { kind: EntityKind; text: string; after: string | undefined; limit: number }
/** Roots without repetition, and where the next page begins. */
export type FoundPage = { ids: string[]; next: string | null }

/** Lists the entities of a kind, oldest first; with a text, those that have each word in a value or an identifier. */
export async function listOrSearch(db: Db, orgId: string, wanted: Wanted): Promise<FoundPage> {
  const { kind, text, after, limit } = wanted
  const words = text.split(/\s+/).filter((word) => word !== '')
  if (words.length > 0) return search(db, orgId, wanted, words.slice(0, MAX_WORDS))
  const ids = await searchEntities(db, orgId, {
    kind,
    prefix: null,
    fields: [],
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
  })
  const shown = await fitEntities(db, orgId, ids.slice(0, limit), MAX_PAGE_BYTES)
  return { ids: shown, next: ids.length > shown.length ? (shown.at(-1) ?? null) : null }
}

/** Finds entities by value. What begins with the text in an identifier comes first, because an index finds it at once. */
async function search(
  db: Db,
  orgId: string,
  { kind, text, after, limit }: Wanted,
  words: readonly string[],
): Promise<FoundPage> {
  const first =
    after === undefined
      ? await searchEntities(db, orgId, { kind, prefix: text.trim().toLowerCase(), fields: [], limit })
      : []
  const { matches, last } = await lookThrough(db, orgId, { kind, words, after: after ?? NO_ID, limit })
  const roots = [...new Set([...first, ...matches.map(({ root_id }) => root_id)])]
  const fitting = new Set(await fitEntities(db, orgId, roots, MAX_PAGE_BYTES))
  const cut = matches.findIndex(({ root_id }) => !fitting.has(root_id))
  if (cut === -1) return { ids: roots.filter((id) => fitting.has(id)), next: last }
  const kept = matches.slice(0, Math.max(cut, 1))
  const ids = [...first.filter((id) => fitting.has(id)), ...kept.map(({ root_id }) => root_id)]
  return { ids: [...new Set(ids)], next: kept.at(-1)?.entity_id ?? last }
}

type Look = { kind: EntityKind; words: readonly string[]; after: string; limit: number }

async function lookThrough(
  db: Db,
  orgId: string,
  { kind, words, after, limit }: Look,
): Promise<{ matches: Match[]; last: string | null }> {
  const until = performance.now() + MAX_MS
  const matches: Match[] = []
  let place: string | null = after
  while (place !== null && matches.length < limit && performance.now() < until) {
    const most = limit - matches.length
    const page = await searchValues(db, orgId, { kind, words, after: place, look: LOOK, limit: most })
    matches.push(...page.matches)
    place = page.matches.length < most ? page.last : (page.matches.at(-1)?.entity_id ?? page.last)
  }
  return { matches, last: place }
}
