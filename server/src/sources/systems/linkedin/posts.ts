import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { runActor } from '../../../catalog/providers/apify/actor.ts'
import { apify } from '../../../catalog/providers/apify/provider.ts'
import { definePull } from '../../pull.ts'
import { words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

export const linkedinPosts = defineShape({
  body: {
    profile_urls: z
      .array(
        z
          .string()
          .trim()
          .max(500)
          .regex(
            /^https?:\/\/([a-z]+\.)?linkedin\.com\/\S+/i,
            'must be a profile or company page on LinkedIn',
          ),
      )
      .min(1)
      .max(100)
      .describe('The profiles or company pages whose posts are read')
      .optional(),
    keywords: words('Words in the posts; any of them matches').optional(),
  },
  row: z.object({
    author: z.string().nullable(),
    text: z.string(),
    url: z.string().nullable(),
    posted_at: z.string().nullable(),
    reactions: z.number().nullable(),
  }),
})

export function checkAuthors({ profile_urls, keywords }: BodyOf<typeof linkedinPosts.body>): FieldError[] {
  if (profile_urls === undefined && keywords === undefined)
    return [{ field: 'profile_urls', message: 'required; or give keywords' }]
  return profile_urls === undefined || keywords === undefined
    ? []
    : [{ field: 'keywords', message: 'cannot be combined with profile_urls; give one of them' }]
}

// Evidence: harvestapi's actors linkedin-profile-posts (targetUrls, maxPosts, postedLimitDate) and linkedin-post-search (searchQueries, sortBy) in public clients.
const Text = z.string().nullish()
const Items = z.array(
  z.object({
    id: z.union([z.string(), z.number()]),
    linkedinUrl: Text,
    content: Text,
    author: z.object({ name: Text }).nullish(),
    postedAt: z.object({ date: Text }).nullish(),
    engagement: z.object({ likes: z.number().nullish() }).nullish(),
  }),
)
/** The maximum number of posts per run. Each run reads one profile or one query. */
const MAX_POSTS = 100

/**
 * The position. `since` is when the previous pull began: posts are requested from that day on, and known ones are not
 * new.
 */
const State = z.object({ place: z.int().min(0), since: z.string().optional(), began: z.string().optional() })

export const apifyPosts = definePull(linkedinPosts, apify, {
  price: 0.1,
  state: State,
  pull({ body, state, limit, notBefore, ask, context }) {
    const { place, since, began = context.now().toISOString() } = state ?? { place: 0 }
    const all = body.profile_urls ?? body.keywords ?? []
    const one = all[place] ?? ''
    const asked = {
      maxPosts: Math.min(limit, MAX_POSTS),
      ...(since === undefined ? {} : { postedLimitDate: since.slice(0, 10) }),
    }
    const request =
      body.profile_urls === undefined
        ? runActor('harvestapi~linkedin-post-search', { searchQueries: [one], sortBy: 'date', ...asked })
        : runActor('harvestapi~linkedin-profile-posts', { targetUrls: [one], ...asked })
    // Posts can only be requested by day, so earlier ones are removed here.
    const isOld = (date: string | null | undefined) =>
      notBefore !== null && Date.parse(date ?? '') < notBefore.getTime()
    return ask(request, Items, (items) => ({
      records: items
        .filter(({ postedAt }) => !isOld(postedAt?.date))
        .map(({ id, linkedinUrl, content, author, postedAt, engagement }) => ({
          key: id,
          row: {
            author: author?.name ?? null,
            text: content ?? '',
            url: linkedinUrl ?? null,
            posted_at: postedAt?.date ?? null,
            reactions: engagement?.likes ?? null,
          },
        })),
      next:
        place + 1 < all.length
          ? { place: place + 1, began, ...(since === undefined ? {} : { since }) }
          : null,
      resume: { place: 0, since: began },
      capped: items.length >= MAX_POSTS,
    }))
  },
  skipExisting: (at) => ({ place: 0, since: at.toISOString() }),
})
