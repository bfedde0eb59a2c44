import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'
import { requestErrors } from '../../testing/request-errors.ts'

async function run(
  slug: string,
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  more: { state?: unknown; limit?: number } = {},
) {
  const { origin, seen } = await serveDouble(answer)
  const now = new Date('2026-11-15T10:00:00Z')
  const pulled = await pullSource(slug, body, { urls: { apify: origin }, now, ...more })
  return { pulled, seen, asked: seen.map((one) => [one.path.split('/')[3], JSON.parse(one.body) as unknown]) }
}

const FAULTS: [Reply, object][] = [
  [{ status: 401, json: {} }, { kind: 'unconfigured' }],
  [{ status: 402, json: {} }, { kind: 'no_credits' }],
  [
    { status: 429, headers: { 'retry-after': '7' } },
    { kind: 'rate_limited', afterMs: 7000 },
  ],
  [{ status: 503 }, { kind: 'error', transient: true }],
  [{ json: { error: {} } }, { kind: 'error', transient: false }],
]

describe('find_linkedin_post_reactors', () => {
  const POST = 'https://www.linkedin.com/posts/acme_hello-activity-1'
  const actor = (name: string | null) => ({
    id: `id ${name}`,
    name,
    position: 'CTO at Acme',
    linkedinUrl: `https://www.linkedin.com/in/${name}`,
  })

  it('runs an actor for reactions and one for comments; a person who did both is two records', async () => {
    const { pulled, asked, seen } = await run(
      'find_linkedin_post_reactors',
      { post_url: POST },
      ({ path }) => ({
        status: 201,
        json: path.includes('reactions')
          ? [
              { id: 'r1', reactionType: 'LIKE', actor: actor('ann') },
              { id: 'r2', actor: null },
            ]
          : [
              { id: 'c1', commentary: 'Well done', actor: actor('ann') },
              { id: 'c2', actor: actor('') },
            ],
      }),
      { limit: 50 },
    )
    expect(seen[0]?.headers.authorization).toBe('Bearer a-key')
    expect(seen[0]?.path).toBe('/v2/acts/harvestapi~linkedin-post-reactions/run-sync-get-dataset-items')
    expect(asked).toEqual([
      ['harvestapi~linkedin-post-reactions', { posts: [POST], maxItems: 50 }],
      ['harvestapi~linkedin-post-comments', { posts: [POST], maxItems: 50 }],
    ])
    expect(pulled).toMatchObject({
      keys: ['reaction https://www.linkedin.com/in/ann', 'comment c1'],
      skipped: 1,
      refusal: null,
    })
    expect(pulled.rows).toEqual([
      {
        full_name: 'ann',
        headline: 'CTO at Acme',
        linkedin_url: 'https://www.linkedin.com/in/ann',
        reaction: 'LIKE',
        comment: null,
      },
      expect.objectContaining({ reaction: null, comment: 'Well done' }),
    ])
  })

  it('runs only one actor if one kind is given', async () => {
    const { asked } = await run(
      'find_linkedin_post_reactors',
      { post_url: POST, kinds: ['comments'] },
      () => ({
        json: [],
      }),
    )
    expect(asked.map(([name]) => name)).toEqual(['harvestapi~linkedin-post-comments'])
  })

  it.each(FAULTS)('passes on %j', async (reply, refusal) => {
    const { pulled } = await run('find_linkedin_post_reactors', { post_url: POST }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{}, 'post_url required'],
    [{ post_url: 'https://acme.com/post' }, 'post_url must be the URL of a post on LinkedIn'],
    [{ post_url: 'https://evil.example/linkedin.com/x' }, 'post_url must be the URL of a post on LinkedIn'],
    [{ post_url: POST, kinds: ['shares'] }, 'kinds[0]'],
  ])('refuses %j by name', async (body, words) => {
    expect(await requestErrors('find_linkedin_post_reactors', body)).toContain(words)
  })
})

describe('track_linkedin_posts', () => {
  const post = (id: string) => ({
    id,
    linkedinUrl: `https://www.linkedin.com/posts/${id}`,
    content: `post ${id}`,
    author: { name: 'Ann' },
    postedAt: { date: '2026-11-14T08:00:00.000Z' },
    engagement: { likes: 3 },
  })
  const [ANN, BOB] = ['https://www.linkedin.com/in/ann', 'https://www.linkedin.com/in/bob']

  it('reads profile by profile from the day on which the previous pull began', async () => {
    const { pulled, asked } = await run(
      'track_linkedin_posts',
      { profile_urls: [ANN, BOB] },
      (_seen, n) => ({ json: [post(String(n))] }),
      { state: { place: 0, since: '2026-11-13T09:00:00.000Z' } },
    )
    expect(asked).toEqual([
      [
        'harvestapi~linkedin-profile-posts',
        { targetUrls: [ANN], maxPosts: 100, postedLimitDate: '2026-11-13' },
      ],
      [
        'harvestapi~linkedin-profile-posts',
        { targetUrls: [BOB], maxPosts: 100, postedLimitDate: '2026-11-13' },
      ],
    ])
    expect(pulled).toMatchObject({
      keys: ['0', '1'],
      resume: { place: 0, since: '2026-11-15T10:00:00.000Z' },
      refusal: null,
    })
    expect(pulled.rows[0]).toEqual({
      author: 'Ann',
      text: 'post 0',
      url: 'https://www.linkedin.com/posts/0',
      posted_at: '2026-11-14T08:00:00.000Z',
      reactions: 3,
    })
  })

  it('searches for words, newest first', async () => {
    const { asked } = await run('track_linkedin_posts', { keywords: ['data'] }, () => ({ json: [] }), {
      limit: 5,
    })
    expect(asked).toEqual([
      ['harvestapi~linkedin-post-search', { searchQueries: ['data'], sortBy: 'date', maxPosts: 5 }],
    ])
  })

  it.each(FAULTS)('passes on %j', async (reply, refusal) => {
    const { pulled } = await run('track_linkedin_posts', { keywords: ['a'] }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{}, 'profile_urls required; or give keywords'],
    [
      { profile_urls: [ANN], keywords: ['a'] },
      'keywords cannot be combined with profile_urls; give one of them',
    ],
    [{ profile_urls: ['https://acme.com'] }, 'profile_urls[0] must be a profile or company page on LinkedIn'],
  ])('refuses %j by name', async (body, words) => {
    expect(await requestErrors('track_linkedin_posts', body)).toContain(words)
  })
})
