import { z } from 'zod'
import { x } from '../../../catalog/providers/x/provider.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

export const posts = defineShape({
  body: {
    query: z
      .string()
      .trim()
      .min(1)
      .max(512)
      .describe('Words and operators of X, such as `"data engineer" -is:retweet`'),
    language: z
      .string()
      .regex(/^[a-z]{2}$/, 'must be two letters, such as en')
      .describe('Language of the posts')
      .optional(),
    min_likes: z.int().min(0).describe('Posts with fewer likes are left out').optional(),
    from_accounts: z
      .array(z.string().regex(/^@?\w{1,15}$/, 'must be the name of an account, such as @acme'))
      .max(20)
      .describe('Only posts of these accounts')
      .optional(),
    has_media: z.boolean().describe('Only posts with pictures or videos').optional(),
  },
  row: z.object({
    author: z.string(),
    text: z.string(),
    url: z.string(),
    posted_at: z.string().nullable(),
    likes: z.number().nullable(),
    reposts: z.number().nullable(),
  }),
})

const Metrics = z.object({ like_count: z.number().optional(), retweet_count: z.number().optional() })
const Reply = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        text: z.string(),
        author_id: z.string(),
        created_at: z.string().optional(),
        public_metrics: Metrics.default({}),
      }),
    )
    .default([]),
  includes: z
    .object({ users: z.array(z.object({ id: z.string(), username: z.string() })).default([]) })
    .default({ users: [] }),
  meta: z.object({ newest_id: z.string().optional(), next_token: z.string().optional() }).default({}),
})

const MAX_PAGE = 100
const MIN_PAGE = 10

/**
 * The position. Posts come newest first: posts up to `since` belong to earlier pulls, and the first page tells where
 * the next pull ends.
 */
const State = z.object({
  since: z.string().optional(),
  newest: z.string().optional(),
  token: z.string().optional(),
})

export const recentPosts = definePull(posts, x, {
  price: 0.1,
  state: State,
  pull: ({ body, state, limit, ask }) =>
    ask(
      {
        path: '/2/tweets/search/recent',
        query: {
          query: printQuery(body),
          max_results: Math.min(MAX_PAGE, Math.max(MIN_PAGE, limit)),
          'tweet.fields': 'author_id,created_at,public_metrics',
          expansions: 'author_id',
          'user.fields': 'username',
          since_id: state?.since,
          next_token: state?.token,
        },
      },
      Reply,
      ({ data, includes, meta }) => {
        const names = new Map(includes.users.map(({ id, username }) => [id, username]))
        const newest = state?.newest ?? meta.newest_id
        const walk = {
          ...(state?.since === undefined ? {} : { since: state.since }),
          ...(newest && { newest }),
        }
        const since = newest ?? state?.since
        return {
          records: data
            .filter(({ public_metrics }) => (public_metrics.like_count ?? 0) >= (body.min_likes ?? 0))
            .map(({ id, text, author_id, created_at, public_metrics }) => {
              const author = names.get(author_id) ?? author_id
              return {
                key: id,
                row: {
                  author,
                  text,
                  url: `https://x.com/${author}/status/${id}`,
                  posted_at: created_at ?? null,
                  likes: public_metrics.like_count ?? null,
                  reposts: public_metrics.retweet_count ?? null,
                },
              }
            }),
          next: meta.next_token === undefined ? null : { ...walk, token: meta.next_token },
          ...(since === undefined ? {} : { resume: { since } }),
        }
      },
    ),
})

function printQuery({
  query,
  language,
  from_accounts,
  has_media,
}: z.infer<z.ZodObject<typeof posts.body>>): string {
  const accounts = (from_accounts ?? []).map((name) => `from:${name.replace('@', '')}`).join(' OR ')
  return [
    query,
    accounts && `(${accounts})`,
    language && `lang:${language}`,
    has_media === true && 'has:media',
  ]
    .filter(Boolean)
    .join(' ')
}
