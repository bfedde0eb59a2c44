import type { ChatTool } from '../models/chat.ts'
import type { SearchEntry } from '../questions/search.ts'
import type { Budget } from './budget.ts'
import { attribute, markText } from './instructions.ts'
import type { AgentPage, PageRead } from './page-reader.ts'
import { choosePassages } from './passages.ts'
import { rankListed } from './site-pages.ts'
import type { Tracer } from './trace.ts'
import type { UrlGuard } from './url-guard.ts'

export const TOOLS: readonly ChatTool[] = [
  {
    name: 'search',
    description: 'Searches the web. Answers titles, addresses and short excerpts.',
    input: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to search for, in a few words.' } },
      required: ['query'],
      additionalProperties: false,
    },
  },
  {
    name: 'read_page',
    description: 'Reads a web page or PDF: its text, and the links on it.',
    input: {
      type: 'object',
      properties: {
        url: {
          type: 'string',
          description:
            'An address that a search found, that a page links to, or of a site that the task names.',
        },
        looking_for: {
          type: 'string',
          description: 'What you want to know from it; of long pages only such parts are shown.',
        },
      },
      required: ['url'],
      additionalProperties: false,
    },
  },
]

export type SearchAnswer =
  | { ok: true; entries: SearchEntry[]; provider: string }
  | { ok: false; message: string }

export type Toolbox = {
  search: (query: string) => Promise<SearchAnswer>
  read: (url: string) => Promise<PageRead>
  guard: UrlGuard
  budget: Budget
  tracer: Tracer
  /** The pages that have been read in this run, in order. The number of a page is its position, from 1. */
  pages: AgentPage[]
}

const MAX_QUERY = 400
const MAX_SHOWN = 7000
const MAX_LINKS_SHOWN = 40
const MAX_SNIPPET = 300

/** Runs a tool that the model asked for. Returns the text that the model receives. */
export async function runTool(tools: Toolbox, name: string, input: unknown): Promise<string> {
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  const text = (key: string): string => (typeof given[key] === 'string' ? given[key].trim() : '')
  if (name === 'search') return searchFor(tools, text('query').slice(0, MAX_QUERY))
  if (name === 'read_page') return readPage(tools, text('url'), text('looking_for').slice(0, MAX_QUERY))
  return `There is no tool ${attribute(name).slice(0, 40)}. Use search or read_page.`
}

async function searchFor({ search, guard, budget, tracer }: Toolbox, query: string): Promise<string> {
  if (query === '') return 'The query is empty.'
  budget.add({ searches: 1 })
  const started = performance.now()
  const answer = await search(query)
  const ms = Math.round(performance.now() - started)
  if (!answer.ok) {
    tracer.add({ kind: 'search', query, ms, results: 0, error: answer.message })
    return `The search failed: ${answer.message}`
  }
  const { entries, provider } = answer
  tracer.add({ kind: 'search', query, ms, results: entries.length, provider })
  guard.addResults(entries.map(({ url }) => url))
  if (entries.length === 0) return 'Nothing was found. Try other words.'
  const lines = entries.map(
    ({ title, url, snippet }, n) => `${n + 1}. ${title}\n   ${url}\n   ${snippet.slice(0, MAX_SNIPPET)}`,
  )
  return markText('search_results', '', lines.join('\n'))
}

async function readPage(tools: Toolbox, address: string, lookingFor: string): Promise<string> {
  const { guard, budget, tracer, pages } = tools
  const checked = guard.check(address)
  if (!checked.ok) {
    tracer.add({ kind: 'refused', url: address.slice(0, 500), reason: checked.reason })
    return `That address may not be read: ${checked.reason}.`
  }
  const { url } = checked
  const known = pages.findIndex((page) => page.url === url)
  const seen = pages[known]
  if (seen !== undefined) return showPage(tools, seen, known + 1, lookingFor)
  budget.add({ pages: 1 })
  const started = performance.now()
  const result = await tools.read(url)
  const ms = Math.round(performance.now() - started)
  if (!result.ok) {
    tracer.add({ kind: 'page', url, ms, bytes: 0, cached: false, error: result.message })
    return `The page could not be read: ${result.message}.`
  }
  const { page, cached } = result
  tracer.add({ kind: 'page', url: page.url, ms, bytes: page.bytes, cached, title: page.title })
  budget.add({ bytes: page.bytes })
  guard.addLinks(page.links.map((link) => link.url))
  const place = pages.findIndex((other) => other.url === page.url)
  if (place < 0) pages.push(page)
  return showPage(tools, page, place < 0 ? pages.length : place + 1, lookingFor)
}

function showPage(
  { guard }: Toolbox,
  { url, title, text, links, listed }: AgentPage,
  number: number,
  lookingFor: string,
): string {
  const shown = choosePassages(text, lookingFor, MAX_SHOWN)
  const linked = links
    .filter((link) => link.text !== '')
    .slice(0, MAX_LINKS_SHOWN)
    .map((link) => `- ${link.text.slice(0, 80)}: ${link.url}`)
  const known = new Set(links.map((link) => link.url))
  const others = rankListed(
    listed.filter((page) => !known.has(page)),
    lookingFor,
  )
  guard.addLinks(others)
  const parts = [
    shown || '(no text)',
    ...(linked.length === 0 ? [] : [`Links:\n${linked.join('\n')}`]),
    ...(others.length === 0
      ? []
      : [`Other pages of the site:\n${others.map((page) => `- ${page}`).join('\n')}`]),
  ]
  const attributes = ` number="${number}" url="${attribute(url)}" title="${attribute(title ?? '')}"`
  return markText('page', attributes, parts.join('\n\n'))
}
