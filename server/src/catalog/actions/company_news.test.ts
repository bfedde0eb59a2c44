import { describe, expect, it } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { createKey } from '../provider/access.ts'
import { serveDouble } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'
import { serveSite, type Site } from '../testing/site-server.ts'
import { atomBlog, blog } from '../testing/sites/shops.ts'

const runAction = useActions()
const now = new Date('2026-11-15T12:00:00Z')

const hit = (id: string, title: string, url: string | null, created_at: string) => ({
  objectID: id,
  title,
  url,
  created_at,
  points: 12,
  num_comments: 3,
  story_text: null,
  _tags: ['story'],
})

async function serveHackerNews(hits: object[], status = 200) {
  const asked: URLSearchParams[] = []
  const { origin } = await serveHttp((request, response) => {
    const url = new URL(request.url ?? '', 'http://hn.test')
    if (url.pathname === '/api/v1/search') asked.push(url.searchParams)
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ hits, nbHits: hits.length }))
  })
  return { origin, asked }
}

async function news(
  inputs: Record<string, unknown>,
  options: { site?: Site; hits?: object[]; status?: number } = {},
) {
  const hn = await serveHackerNews(options.hits ?? [], options.status)
  const site = await serveSite(options.site ?? {})
  const domain = inputs['domain'] === 'SITE' ? { domain: site.origin } : {}
  const outcome = await runAction('company_news', { ...inputs, ...domain }, { now, urls: { hn: hn.origin } })
  return {
    outcome: JSON.parse(JSON.stringify(outcome).replaceAll(site.origin, 'SITE')),
    asked: hn.asked,
    requests: site.requests,
  }
}

describe('company_news', () => {
  it('reads the feed of a website: newest first, each story once, dated and recent ones only', async () => {
    const { outcome } = await news({ domain: 'SITE' }, { site: blog })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        items: [
          {
            title: 'A new ship & crew',
            url: 'SITE/2026/11/new-ship/?utm_source=rss',
            published_at: '2026-11-10T08:00:00.000Z',
            source: 'Harbour Notes',
            summary: 'We bought a ship.',
          },
        ],
      },
      provenance: [
        { provider: 'website', status: 'hit' },
        { provider: 'hn', status: 'hit' },
      ],
    })
  })

  it('looks back as far as it is configured', async () => {
    const { outcome } = await news({ domain: 'SITE', since_days: '3650' }, { site: blog })
    expect(outcome.outputs.items.map(({ title }: { title: string }) => title)).toEqual([
      'A new ship & crew',
      'Old story',
    ])
  })

  it('finds the Atom feed of the news page', async () => {
    const { outcome } = await news({ domain: 'SITE' }, { site: atomBlog })
    expect(outcome.outputs.items).toEqual([
      {
        title: 'Delta opens in Oslo',
        url: 'SITE/news/oslo',
        published_at: '2026-11-12T09:30:00.000Z',
        source: 'Delta News',
        summary: 'An office.',
      },
    ])
  })

  it('tries the usual addresses of feeds', async () => {
    const feed = {
      type: 'text/xml',
      body: '<rss><channel><item><title>Hi</title><guid>SITE-RELATIVE</guid><link>/hi</link><pubDate>Sat, 14 Nov 2026 00:00:00 GMT</pubDate></item></channel></rss>',
    }
    const { outcome, requests } = await news(
      { domain: 'SITE' },
      { site: { '/': '<title>Acme</title>', '/rss': feed } },
    )
    expect(outcome.outputs.items).toMatchObject([{ title: 'Hi', url: 'SITE/hi', source: '127.0.0.1' }])
    expect(requests).toEqual(['/robots.txt', '/', '/feed', '/rss'])
  })

  it('finds stories of others about a company by its name, and none about other companies', async () => {
    const hits = [
      hit('1', 'Acme raises $10M', 'https://news.example/acme', '2026-11-01T00:00:00Z'),
      hit('2', 'Ask HN: is Acme, Inc. hiring?', null, '2026-11-13T00:00:00Z'),
      hit('3', 'Acne treatment', 'https://news.example/acne', '2026-11-14T00:00:00Z'),
      hit('4', 'Acmeology', 'https://news.example/acmeology', '2026-11-14T00:00:00Z'),
    ]
    const { outcome, asked } = await news({ company_name: ' ACME ', since_days: '20' }, { hits })
    expect(outcome.outputs.items).toEqual([
      {
        title: 'Ask HN: is Acme, Inc. hiring?',
        url: 'https://news.ycombinator.com/item?id=2',
        published_at: '2026-11-13T00:00:00.000Z',
        source: 'Hacker News',
        summary: '12 points, 3 comments on Hacker News',
      },
      expect.objectContaining({ title: 'Acme raises $10M', url: 'https://news.example/acme' }),
    ])
    expect(
      asked.map((query) => [query.get('query'), query.get('tags'), query.get('numericFilters')]),
    ).toEqual([['ACME', 'story', `created_at_i>${Date.parse('2026-10-26T12:00:00Z') / 1000}`]])
  })

  it('returns what it has if one of its sources fails', async () => {
    const { outcome } = await news({ domain: 'SITE' }, { site: blog, status: 500 })
    expect(outcome).toMatchObject({
      kind: 'done',
      provenance: [
        { status: 'hit' },
        { provider: 'hn', status: 'error', message: 'Hacker News answers HTTP 500' },
      ],
    })
    const hits = [hit('1', 'Acme is down', 'https://a.example', '2026-11-14T00:00:00Z')]
    const down = await news(
      { domain: 'SITE', company_name: 'Acme' },
      { hits, site: { '/': { status: 500 } } },
    )
    expect(down.outcome).toMatchObject({
      kind: 'done',
      provenance: [{ provider: 'website', status: 'error' }, { status: 'hit' }],
    })
  })

  it('adds the results of a search engine if there is a key for one', async () => {
    const story = {
      link: 'https://paper.example/acme',
      title: 'Acme grows',
      date: '3 days ago',
      source: 'Paper',
    }
    const serper = await serveDouble(() => ({ json: { news: [story] } }))
    const hn = await serveHackerNews([hit('1', 'Acme is down', null, '2026-11-14T00:00:00Z')])
    const keys = {
      platform: (id: string) => (id === 'serper' ? createKey('platform', { secret: 'k' }) : null),
      own: async () => null,
    }
    const urls = { hn: hn.origin, serper: serper.origin }
    const outcome = await runAction('company_news', { company_name: 'Acme' }, { now, urls, keys })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        items: [
          { title: 'Acme is down', source: 'Hacker News' },
          { title: 'Acme grows', source: 'Paper', published_at: '2026-11-12T12:00:00.000Z' },
        ],
      },
      provenance: [{ provider: 'hn' }, { provider: 'Serper', status: 'hit', credits: 0 }],
    })
    expect(outcome).not.toHaveProperty('credits')
  })

  it('without any news has no answer; a source that could not be read is retried', async () => {
    expect((await news({ company_name: 'Acme' })).outcome).toMatchObject({ kind: 'no_match' })
    expect((await news({ company_name: 'Acme' }, { status: 503 })).outcome).toMatchObject({ kind: 'retry' })
    expect((await news({ domain: 'SITE' }, { site: { '/': { status: 503 } } })).outcome).toMatchObject({
      kind: 'retry',
    })
  })

  it('needs a name or a domain', async () => {
    expect(await runAction('company_news', {})).toEqual({
      kind: 'unrunnable',
      message: 'one of these must be set: company_name; domain',
    })
  })
})
