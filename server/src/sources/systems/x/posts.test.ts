import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const post = (id: string, likes = 1) => ({
  id,
  text: `post ${id}`,
  author_id: 'u1',
  created_at: '2026-01-01T00:00:00.000Z',
  public_metrics: { like_count: likes, retweet_count: 2 },
})
const users = { users: [{ id: 'u1', username: 'acme' }] }

const search = (
  body: Record<string, unknown>,
  answer: (seen: Seen, place: number) => Reply,
  state?: unknown,
) =>
  serveDouble(answer).then(async ({ origin, seen }) => ({
    seen,
    pulled: await pullSource('search_x_tweets', body, { urls: { x: origin }, state }),
  }))

describe('search_x_tweets', () => {
  it('sends the documented request and reads all pages', async () => {
    const { seen, pulled } = await search(
      { query: 'loam', language: 'en', from_accounts: ['@acme', 'b'], has_media: true },
      (_seen, place) => ({
        json:
          place === 0
            ? { data: [post('30'), post('20')], includes: users, meta: { newest_id: '30', next_token: 't1' } }
            : { data: [post('10')], includes: users, meta: { newest_id: '10' } },
      }),
    )
    expect(seen.map(({ path, query }) => [path, query['query'], query['next_token']])).toEqual([
      ['/2/tweets/search/recent', 'loam (from:acme OR from:b) lang:en has:media', undefined],
      ['/2/tweets/search/recent', 'loam (from:acme OR from:b) lang:en has:media', 't1'],
    ])
    expect(seen[0]?.headers.authorization).toBe('Bearer a-key')
    expect(pulled).toMatchObject({ keys: ['30', '20', '10'], refusal: null, resume: { since: '30' } })
    expect(pulled.rows[0]).toEqual({
      author: 'acme',
      text: 'post 30',
      url: 'https://x.com/acme/status/30',
      posted_at: '2026-01-01T00:00:00.000Z',
      likes: 1,
      reposts: 2,
    })
  })

  it('continues where the previous pull ended, and keeps that position if nothing is new', async () => {
    const { seen, pulled } = await search(
      { query: 'loam' },
      () => ({ json: { meta: { result_count: 0 } } }),
      {
        since: '30',
      },
    )
    expect(seen[0]?.query).toMatchObject({ since_id: '30' })
    expect(pulled).toMatchObject({ rows: [], resume: { since: '30' } })
  })

  it('leaves out posts with fewer likes, even if that empties a page', async () => {
    const { pulled } = await search({ query: 'loam', min_likes: 5 }, (_seen, place) => ({
      json: {
        data: [post(String(9 - place), place === 0 ? 1 : 7)],
        includes: users,
        meta: place === 0 ? { next_token: 't1' } : {},
      },
    }))
    expect(pulled.keys).toEqual(['8'])
  })

  it.each([
    [{ status: 401, json: { title: 'Unauthorized' } }, { kind: 'unconfigured' }],
    [{ status: 400, json: { title: 'Invalid Request' } }, { kind: 'ineligible' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'rate_limited', afterMs: 7000 },
    ],
    [{ status: 429, json: { title: 'UsageCapExceeded' } }, { kind: 'no_credits' }],
    [{ status: 503 }, { kind: 'error', transient: true }],
    [{ json: { data: 'none' } }, { kind: 'error', transient: false }],
  ])('passes on %j', async (reply, refusal) => {
    const { pulled } = await search({ query: 'loam' }, () => reply)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{}, 'query required'],
    [{ query: '' }, 'query must be non-empty'],
    [{ query: 'a', language: 'English' }, 'language must be two letters, such as en'],
    [
      { query: 'a', from_accounts: ['not an account'] },
      'from_accounts[0] must be the name of an account, such as @acme',
    ],
    [{ query: 'a', max_tweet: 5 }, 'max_tweet not accepted; search_x_tweets takes: query, language'],
    [{ query: 'a', max_tweets: 5, max_count: 6 }, 'max_tweets is the same as max_count; give one of them'],
    [{ query: 'a', schedule: 'daily' }, 'schedule not accepted'],
  ])('refuses %j by name', async (body, words) => {
    const refused = await pullSource('search_x_tweets', body).catch((cause: unknown) => cause)
    expect(refused).toMatchObject({ code: 'Validation Error' })
    const { errors = [] } = (refused as { details: { errors?: { field: string; message: string }[] } })
      .details
    expect(errors.map(({ field, message }) => `${field} ${message}`).join('\n')).toContain(words)
  })
})
