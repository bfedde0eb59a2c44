import type { ChatBody, SpokenReply } from '#server/catalog/testing/chat-turn.ts'
import { FACT_NAMES, type FactName } from '../facts.ts'
import { choose, findOn, type Found, FRESH, isOwnWord, type PageSeen, pagesIn } from './reading.ts'

const MAX_PAGES = 6
const MAX_SOURCES = 3

/** The information that the model has received so far. */
type Conversation = {
  company: string
  website: string | undefined
  fact: FactName
  pages: PageSeen[]
  results: { url: string; title: string }[]
  hasSearched: boolean
  asked: Set<string>
}

/**
 * Responds as a rule-based model. It returns the same reply for the same words and knows only what it was
 * told. It does whatever a page orders.
 */
export function think(body: ChatBody): SpokenReply {
  const conversation = readConversation(body)
  const found = conversation.pages.flatMap(
    (page) => findOn(page, conversation.company, conversation.fact) ?? [],
  )
  if (body.tools === undefined) return { says: answer(conversation, found) }
  const order = conversation.pages.map(({ text }) => /\bopen (https?:\S+)/.exec(text)?.[1]).find(Boolean)
  if (order !== undefined && !conversation.asked.has(order)) return read(order, conversation)
  if (conversation.asked.size > MAX_PAGES) return { says: 'I have read enough.' }
  const next = nextPage(conversation, found)
  if (next !== undefined) return read(next, conversation)
  if (!conversation.hasSearched && !isSettled(found, conversation.company)) {
    return { calls: [{ name: 'search', input: { query: `${conversation.company} ${conversation.fact}` } }] }
  }
  return { says: found.length === 0 ? 'It cannot be found.' : 'I have found it.' }
}

/** Returns true if the company's own site states the fact, or two others do. */
function isSettled(found: readonly Found[], company: string): boolean {
  const fresh = found.filter(({ year }) => year >= FRESH)
  const hosts = fresh.map((one) => `${one.value} ${URL.parse(one.page.url)?.host}`)
  return (
    fresh.some((one) => isOwnWord(one, company)) ||
    new Set(hosts).size > new Set(fresh.map(({ value }) => value)).size
  )
}

const read = (url: string, { company, fact }: Conversation): SpokenReply => ({
  calls: [{ name: 'read_page', input: { url, looking_for: `${company} ${fact}` } }],
})

/**
 * Returns the next page to read: the site that the task names, then pages on it that sound right, then search
 * results about this company.
 */
function nextPage(conversation: Conversation, found: readonly Found[]): string | undefined {
  const isNew = (url: string) => !conversation.asked.has(url)
  if (conversation.website !== undefined && isNew(conversation.website)) return conversation.website
  const others = conversation.results.filter(
    ({ url, title }) => isNew(url) && isAbout(title, conversation.company),
  )
  const hosts = new Set(found.map(({ page }) => URL.parse(page.url)?.host))
  // A page of another site is read too, if a search shows one: one statement is a claim, two are a finding.
  const second = others.find(({ url }) => !hosts.has(URL.parse(url)?.host))
  if (isSettled(found, conversation.company)) return conversation.pages.length < 3 ? second?.url : undefined
  const linked = conversation.pages
    .filter(
      ({ url, title, text }) =>
        isAbout(`${title} ${text}`, conversation.company) || url === conversation.website,
    )
    .flatMap(listLinks)
    .filter(({ url }) => isNew(url))
    .map((link) => ({ ...link, score: rateLink(link) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
  return linked[0]?.url ?? others[0]?.url
}

const isAbout = (text: string, company: string) => new RegExp(`${company}(?! \\p{Lu})`, 'u').test(text)

/** Returns the links of a page, as they are listed below it. */
function listLinks({ url: page, text }: PageSeen): { url: string; text: string }[] {
  const host = URL.parse(page)?.host
  return [...text.matchAll(/^- (?:(.*): )?(https?:\S+)$/gm)]
    .map(([, words = '', url = '']) => ({ url, text: words }))
    .filter(({ url }) => URL.parse(url)?.host === host)
}

const PLACES = /about|company|facts|imprint|story|report|team|unternehmen|qui-sommes|nosotros|会社/i

const rateLink = ({ url, text }: { url: string; text: string }): number =>
  (PLACES.test(text) ? 2 : 0) + (PLACES.test(URL.parse(url)?.pathname ?? '') ? 1 : 0)

function readConversation({ messages }: ChatBody): Conversation {
  const texts = messages.filter(({ role }) => role !== 'system').map(({ content }) => content ?? '')
  const all = texts.join('\n')
  const results = [...all.matchAll(/^\d+\. (.*)\n {3}(https?:\S+)$/gm)]
  const calls = messages.flatMap(({ tool_calls = [] }) => JSON.stringify(tool_calls))
  const asked = calls.join('').matchAll(/\\"url\\":\\"([^"\\]+)/g)
  return {
    company: /Company: (.+?), /.exec(all)?.[1] ?? '',
    website: /Website: (\S+)/.exec(all)?.[1],
    fact: FACT_NAMES.find((name) => all.includes(`\n- ${name} (`)) ?? 'founded',
    pages: pagesIn(all),
    results: results.map(([, title = '', url = '']) => ({ title, url })),
    hasSearched: calls.some((call) => call.includes('"search"')),
    asked: new Set([...asked].map(([, url = '']) => url)),
  }
}

/** Returns the answer of the last pass. A fact that no page states is null. */
function answer({ company, fact }: Conversation, found: readonly Found[]): string {
  const best = choose(found, company)
  const agreeing = found.filter(({ value }) => value === best?.value).slice(0, MAX_SOURCES)
  const sources = agreeing.map(({ page, quote }) => ({ page: page.number, quote }))
  const reason = best === undefined ? 'no page says it' : null
  return JSON.stringify({ [fact]: { value: best?.value ?? null, sources, reason } })
}
