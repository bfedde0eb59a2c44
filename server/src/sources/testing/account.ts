import { type Reply, type Seen, serveDouble } from '../../catalog/testing/provider-double.ts'
import type { Settings } from './pull-source.ts'

/** One record of an account, with the time of its last change. */
export type Thing = { id: number; at: number }

/** What to send to a source, and where its provider is. */
export type Opened = {
  body: Record<string, unknown>
  settings: Settings
  /** Puts a thing that came later where it is read, if the account does not read the list of things itself. */
  add?: (thing: Thing) => Promise<void>
}

/** An account that a source reads. */
export type Account = {
  /** The source and its provider, as `find_people by apollo`. */
  name: string
  slug: string
  /** Serves things, which tests may add to while they are served. */
  open: (things: Thing[]) => Promise<Opened>
  /** It cannot say whether there are more than 100: a run of its program collects no more. */
  endsAt100?: true
}

/** An account of a provider that speaks HTTP. `named` where the source has several providers. */
export function accountOf(
  slug: string,
  provider: string,
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

/** A page by its number, counted from `first`. */
export function pageAt<Item>(items: readonly Item[], page: number, size: number): Item[] {
  return items.slice(page * size, (page + 1) * size)
}

/** Items behind an offset, and the offset behind them; null at the end. */
export function slice<Item>(items: readonly Item[], offset: unknown, size: unknown) {
  const start = Number(offset ?? 0)
  const end = start + Number(size)
  return { found: items.slice(start, end), next: end < items.length ? String(end) : null }
}

export const iso = (at: number) => new Date(at).toISOString()

/** Those that changed at a moment or later. */
export const since = (things: readonly Thing[], from: unknown) =>
  typeof from === 'string' || typeof from === 'number'
    ? things.filter(({ at }) => at >= new Date(from).getTime())
    : [...things]
