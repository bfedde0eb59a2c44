import { z } from 'zod'

/** The fields about visits, for both companies and people. */
export const pageFields = {
  pages: z.array(z.string()),
  last_page: z.string(),
  referrer: z.string().nullable(),
  page_views: z.int(),
  visits: z.int(),
  first_seen: z.string(),
  last_seen: z.string(),
}
type Pages = z.infer<z.ZodObject<typeof pageFields>>

const MAX_PAGES = 50

/**
 * Adds a page view. Pages are kept in the order of their last view, only the latest ones; the referrer of the first
 * visit is kept.
 */
export function addPage(
  before: Pages | null,
  view: { url: string; referrer: string | null },
  { at, isNewVisit }: { at: Date; isNewVisit: boolean },
): Pages {
  const seen = at.toISOString()
  const others = before?.pages.filter((page) => page !== view.url) ?? []
  return {
    pages: [...others, view.url].slice(-MAX_PAGES),
    last_page: view.url,
    referrer: before?.referrer ?? view.referrer,
    page_views: (before?.page_views ?? 0) + 1,
    visits: (before?.visits ?? 0) + (isNewVisit ? 1 : 0),
    first_seen: before?.first_seen ?? seen,
    last_seen: before !== null && before.last_seen > seen ? before.last_seen : seen,
  }
}
