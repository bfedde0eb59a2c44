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
      .describe('Whose posts')
      .optional(),
    keywords: words('Words of posts, any of them').optional(),
  },
  row: z.object({
    author: z.string().nullable(),
    text: z.string(),
    url: z.string().nullable(),
    posted_at: z.string().nullable(),
    reactions: z.number().nullable(),
  }),
})

export function checkWhose({ profile_urls, keywords }: BodyOf<typeof linkedinPosts.body>): FieldError[] {
  if (profile_urls === undefined && keywords === undefined)
    return [{ field: 'profile_urls', message: 'required; or give keywords' }]
  return profile_urls === undefined || keywords === undefined
    ? []
    : [{ field: 'keywords', message: 'is given with profile_urls; give one of them' }]
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
/** A profile or a query a run, and this many posts of it at most. */
const MAX_POSTS = 100

/** `since` is when the pull before began: posts are asked for from that day on, and those that are known are not new. */
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
    // Posts are asked for by the day.
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
