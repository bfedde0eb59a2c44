import { exaAnswer } from '../../providers/exa/answer.ts'
import { firecrawlSearch } from '../../providers/firecrawl/search.ts'
import { linkupAnswer } from '../../providers/linkup/answer.ts'
import { linkupSearch } from '../../providers/linkup/search.ts'
import { parallelSearch } from '../../providers/parallel/search.ts'
import { perplexityAnswer } from '../../providers/perplexity/answer.ts'
import { perplexitySearch } from '../../providers/perplexity/search.ts'
import { tavilyAnswer } from '../../providers/tavily/answer.ts'
import { caseOf } from './case.ts'

const BEARER = { authorization: 'Bearer k-0123456789-secret' }
const KEY = { 'x-api-key': 'k-0123456789-secret' }
const ASKED = { query: 'acme corp', limit: 1, country: 'de' }
const QUESTION = { question: 'Who founded Acme?' }
const found = [{ title: 'Acme', url: 'https://acme.com/', snippet: 'Tools.' }]
const page = { title: 'Acme', url: 'https://acme.com/' }
const value = { answer: 'Ada Byron.', sources: [page] }
const one = (json: object) => [{ json }]
const twice = <Item>(item: Item) => [item, item]
/** The result for an answer without sources, which cannot be checked. */
const unsourced = { kind: 'hit', verified: false, value: { sources: [] } }

export const ANSWERS = [
  caseOf(perplexitySearch, ASKED, {
    asks: {
      at: 'POST /search',
      headers: BEARER,
      json: { query: 'acme corp', max_results: 1, country: 'DE' },
    },
    hit: { replies: one({ results: twice({ ...page, snippet: 'Tools.' }) }), value: found },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(parallelSearch, ASKED, {
    asks: {
      at: 'POST /v1/search',
      headers: KEY,
      json: {
        objective: 'acme corp',
        search_queries: ['acme corp'],
        advanced_settings: { max_results: 1, excerpt_settings: { max_chars_per_result: 500 } },
      },
    },
    hit: {
      replies: one({ search_id: 's', results: twice({ ...page, excerpts: ['Tools.', 'More.'] }) }),
      value: found,
    },
    nothing: [{ replies: one({ results: [] }) }],
  }),
  caseOf(linkupSearch, ASKED, {
    asks: {
      at: 'POST /v1/search',
      headers: BEARER,
      json: { q: 'acme corp', depth: 'standard', outputType: 'searchResults' },
    },
    hit: {
      replies: one({ results: twice({ type: 'text', name: 'Acme', url: page.url, content: 'Tools.' }) }),
      value: found,
    },
    nothing: [{ replies: one({ results: [] }) }],
    quota: { status: 429, json: { error: { code: 'INSUFFICIENT_FUNDS_CREDITS' } } },
  }),
  caseOf(firecrawlSearch, ASKED, {
    asks: {
      at: 'POST /v2/search',
      headers: BEARER,
      json: { query: 'acme corp', limit: 1, country: 'DE' },
    },
    hit: {
      replies: one({ success: true, data: { web: twice({ ...page, description: 'Tools.' }) } }),
      value: found,
    },
    nothing: [
      { replies: one({ success: true, data: { web: [] } }) },
      { replies: one({ success: true, data: [{ url: page.url }] }), found: { kind: 'hit' } },
    ],
  }),
  caseOf(perplexityAnswer, QUESTION, {
    asks: {
      at: 'POST /chat/completions',
      headers: BEARER,
      json: { model: 'sonar', messages: [{ role: 'user', content: QUESTION.question }] },
    },
    hit: {
      replies: one({ choices: [{ message: { content: ' Ada Byron. ' } }], search_results: [page] }),
      value,
    },
    nothing: [
      { replies: one({ choices: [] }) },
      {
        replies: one({ choices: [{ message: { content: 'Ada.' } }], citations: [page.url] }),
        found: { kind: 'hit', verified: true, value: { sources: [{ url: page.url, title: '' }] } },
      },
      { replies: one({ choices: [{ message: { content: 'Ada.' } }] }), found: unsourced },
    ],
  }),
  caseOf(linkupAnswer, QUESTION, {
    asks: {
      at: 'POST /v1/search',
      headers: BEARER,
      json: { q: QUESTION.question, outputType: 'sourcedAnswer' },
    },
    hit: {
      replies: one({ answer: 'Ada Byron.', sources: [{ name: 'Acme', url: page.url, snippet: 'x' }] }),
      value,
    },
    nothing: [{ replies: one({ answer: '', sources: [] }) }],
    quota: { status: 429, json: { error: { code: 'INSUFFICIENT_FUNDS_CREDITS' } } },
  }),
  caseOf(exaAnswer, QUESTION, {
    asks: { at: 'POST /answer', headers: KEY, json: { query: QUESTION.question } },
    hit: { replies: one({ answer: 'Ada Byron.', citations: [page] }), value },
    nothing: [{ replies: one({ answer: null }) }],
  }),
  caseOf(tavilyAnswer, QUESTION, {
    asks: { at: 'POST /search', headers: BEARER, json: { query: QUESTION.question, include_answer: true } },
    hit: { replies: one({ answer: 'Ada Byron.', results: [page] }), value },
    nothing: [{ replies: one({ answer: null, results: [] }) }],
    quota: { status: 432, json: { detail: { error: 'This request exceeds your plan' } } },
  }),
]
