import { braveSearch } from '../../providers/brave/search.ts'
import { exaSearch } from '../../providers/exa/search.ts'
import { searxngSearch } from '../../providers/searxng/search.ts'
import { serperSearch } from '../../providers/serper/search.ts'
import { tavilySearch } from '../../providers/tavily/search.ts'
import { theirstackOpenings } from '../../providers/theirstack/openings.ts'
import { caseOf } from './case.ts'

const ASKED = { query: 'acme corp', limit: 1, country: 'de' }
const found = [{ title: 'Acme', url: 'https://acme.com/', snippet: 'Tools.' }]
const one = (json: object) => [{ json }]
const twice = <Item>(item: Item) => [item, item]
const bearer = { authorization: 'Bearer k-0123456789-secret' }

export const SEARCH = [
  caseOf(searxngSearch, ASKED, {
    asks: { at: 'GET /search', query: { format: 'json', q: 'acme corp', language: 'de-DE' } },
    hit: {
      replies: one({ results: twice({ url: 'https://acme.com/', title: 'Acme', content: 'Tools.' }) }),
      value: found,
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(serperSearch, ASKED, {
    asks: {
      at: 'POST /search',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { q: 'acme corp', num: 1, gl: 'de' },
    },
    hit: {
      replies: one({ organic: twice({ link: 'https://acme.com/', title: 'Acme', snippet: 'Tools.' }) }),
      value: found,
    },
    nothing: [{ replies: one({ organic: [] }) }, { replies: one({}) }],
    badKey: { status: 403, json: { message: 'Unauthorized.' } },
    quota: { status: 400, json: { message: 'Not enough credits' } },
  }),
  caseOf(braveSearch, ASKED, {
    asks: {
      at: 'GET /res/v1/web/search',
      headers: { 'x-subscription-token': 'k-0123456789-secret' },
      query: { q: 'acme corp', count: '1', country: 'DE' },
    },
    hit: {
      replies: one({
        web: { results: twice({ url: 'https://acme.com/', title: 'Acme', description: 'Tools.' }) },
      }),
      value: found,
    },
    nothing: [
      { replies: one({ type: 'search' }) },
      {
        replies: [{ status: 422, json: { error: { code: 'VALIDATION', detail: 'country' } } }],
        found: { kind: 'ineligible' },
      },
    ],
    badKey: { status: 422, json: { error: { code: 'SUBSCRIPTION_TOKEN_INVALID' } } },
  }),
  caseOf(tavilySearch, ASKED, {
    asks: { at: 'POST /search', headers: bearer, json: { query: 'acme corp', max_results: 1 } },
    hit: {
      replies: one({
        results: twice({ url: 'https://acme.com/', title: 'Acme', content: 'Tools.', score: 0.9 }),
      }),
      value: found,
    },
    nothing: [{ replies: one({ results: [] }) }],
    quota: { status: 432, json: { detail: { error: 'This request exceeds your plan' } } },
  }),
  caseOf(exaSearch, ASKED, {
    asks: {
      at: 'POST /search',
      headers: { 'x-api-key': 'k-0123456789-secret' },
      json: { query: 'acme corp', numResults: 1 },
    },
    hit: {
      replies: one({ results: twice({ url: 'https://acme.com/', title: 'Acme', text: 'Tools.' }) }),
      value: found,
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(
    theirstackOpenings,
    { domain: 'acme.com', keywords: ['engineer'], limit: 5 },
    {
      asks: {
        at: 'POST /v1/jobs/search',
        headers: bearer,
        json: { company_domain_or: ['acme.com'], job_title_or: ['engineer'], limit: 5, page: 0 },
      },
      hit: {
        replies: one({
          data: [
            {
              job_title: 'Engineer',
              location: 'Berlin',
              url: 'https://x.example/1',
              date_posted: '2024-05-01',
            },
          ],
          metadata: { total_results: 9 },
        }),
        value: {
          count: 9,
          jobs: [
            {
              title: 'Engineer',
              location: 'Berlin',
              url: 'https://x.example/1',
              posted_at: '2024-05-01',
              department: null,
            },
          ],
        },
      },
      nothing: [{ replies: one({ data: [], metadata: { total_results: 0 } }) }],
    },
  ),
]
