import { braveNews } from '../../providers/brave/news.ts'
import { exaNews } from '../../providers/exa/news.ts'
import { searxngNews } from '../../providers/searxng/news.ts'
import { serperNews } from '../../providers/serper/news.ts'
import { tavilyNews } from '../../providers/tavily/news.ts'
import { caseOf } from './case.ts'

const ASKED = {
  query: '"Acme"',
  since: new Date('2026-11-01T00:00:00Z'),
  now: new Date('2026-11-15T12:00:00Z'),
}
const url = 'https://www.paper.example/acme'
const title = 'Acme grows'
const date = '2026-11-12T12:00:00.000Z'
const found = (source: string) => [{ title, url, published_at: date, source, summary: 'More.' }]
const one = (json: object) => [{ json }]
const bearer = { authorization: 'Bearer k-0123456789-secret' }

export const NEWS = [
  caseOf(searxngNews, ASKED, {
    asks: { at: 'GET /search', query: { format: 'json', q: '"Acme"', categories: 'news' } },
    hit: {
      replies: one({
        results: [
          { url, title, content: 'More.', publishedDate: date },
          { url, title: 'Undated', publishedDate: null },
        ],
      }),
      value: found('paper.example'),
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(serperNews, ASKED, {
    asks: { at: 'POST /news', headers: { 'x-api-key': 'k-0123456789-secret' }, json: { q: '"Acme"' } },
    hit: {
      replies: one({ news: [{ link: url, title, snippet: 'More.', date: '3 days ago', source: 'Paper' }] }),
      value: found('Paper'),
    },
    nothing: [{ replies: one({ news: [] }) }, { replies: one({}) }],
  }),
  caseOf(braveNews, ASKED, {
    asks: {
      at: 'GET /res/v1/news/search',
      headers: { 'x-subscription-token': 'k-0123456789-secret' },
      query: { q: '"Acme"' },
    },
    hit: {
      replies: one({ results: [{ url, title, description: 'More.', age: '3 days ago' }] }),
      value: found('paper.example'),
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(tavilyNews, ASKED, {
    asks: {
      at: 'POST /search',
      headers: bearer,
      json: { query: '"Acme"', topic: 'news', start_date: '2026-11-01' },
    },
    hit: {
      replies: one({
        results: [{ url, title, content: 'More.', published_date: 'Thu, 12 Nov 2026 12:00:00 GMT' }],
      }),
      value: found('paper.example'),
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(exaNews, ASKED, {
    asks: {
      at: 'POST /search',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { query: '"Acme"', category: 'news', startPublishedDate: '2026-11-01T00:00:00.000Z' },
    },
    hit: {
      replies: one({ results: [{ url, title, text: 'More.', publishedDate: date }] }),
      value: found('paper.example'),
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
]
