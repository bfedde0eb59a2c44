import { type Reply, type Seen, serveDouble } from '../../catalog/testing/provider-double.ts'
import type { Settings } from './pull-source.ts'

/** A record of an account, with the time of its last change. */
export type Thing = { id: number; at: number }

/** The request body for a source, and the settings that reach its provider. */
export type Opened = {
  body: Record<string, unknown>
  settings: Settings
  /** Adds a later record, for accounts that do not read the list of things themselves. */
  add?: (thing: Thing) => Promise<void>
}

/** An account that a source reads. */
export type Account = {
  /** The source and its provider, such as `find_people by apollo`. */
  name: string
  slug: string
  /** Serves the things. Tests may add to the list while it is served. */
  open: (things: Thing[]) => Promise<Opened>
  /** Set if the account cannot say whether there are more than 100: a run of its program collects no more. */
  endsAt100?: true
}

/** Makes an account of an HTTP provider. `isNamed` if the source has several providers. */
export function accountOf(
  { slug, provider }: { slug: string; provider: string },
  body: Record<string, unknown>,
  answer: (things: Thing[], seen: Seen) => Reply,
  { isNamed = false, fields }: { isNamed?: boolean; fields?: Record<string, string> | null } = {},
): Account {
  return {
    name: `${slug} by ${provider}`,
    slug,
    async open(things) {
      const { origin } = await serveDouble((seen) => answer(things, seen))
      const asked = { ...body, ...(isNamed ? { provider } : {}) }
      return {
        body: asked,
        settings: { urls: { [provider]: origin }, ...(fields === undefined ? {} : { fields }) },
      }
    },
  }
}

export const jsonOf = ({ body }: Seen) => JSON.parse(body === '' ? '{}' : body) as Record<string, unknown>

/** Returns a page by its number, counted from 0. */
export function pageAt<Item>(items: readonly Item[], page: number, size: number): Item[] {
  return items.slice(page * size, (page + 1) * size)
}

/** Returns the items after an offset and the next offset, or null at the end. */
export function slice<Item>(items: readonly Item[], offset: unknown, size: unknown) {
  const start = Number(offset ?? 0)
  const end = start + Number(size)
  return { found: items.slice(start, end), next: end < items.length ? String(end) : null }
}

export const iso = (at: number) => new Date(at).toISOString()

/** Returns the things that changed at or after a moment. */
export const since = (things: readonly Thing[], from: unknown) =>
  typeof from === 'string' || typeof from === 'number'
    ? things.filter(({ at }) => at >= new Date(from).getTime())
    : [...things]
