import type { CheerioAPI } from 'cheerio'
import { countElements, nestingOf } from './nesting.ts'
import type { Page } from './page-fetch.ts'
import type { TreeNode } from './tree.ts'

/** Holds the input of a reading of a page. */
export type SentPage = Pick<Page, 'url' | 'text' | 'headers' | 'cookies'>

/** A page that has been read: its tree, and what nearly everybody asks of it. */
export type WebDocument = {
  $: CheerioAPI
  url: URL
  /** The base of its relative addresses. */
  base: URL
  html: string
  title: string | null
  description: string | null
  /** `de-AT`, as the page says. */
  language: string | null
  links: Link[]
  headers: Record<string, string[]>
  cookies: string[]
}

export type Link = { url: URL; text: string }

// Browsers stop at 512. Deeper trees are made to exhaust whoever walks them.
const MAX_DEPTH = 512
/** The longest lists of encyclopaedias have half as many. */
const MAX_ELEMENTS = 100_000
const MAX_LINKS = 5_000
const MAX_BASE = 2_000
const MAX_TEXT = 2_000

export type DocumentResult = { ok: true; document: WebDocument } | { ok: false; message: string }

/** The library is loaded when a page is first read: few installations of few processes do. */
export async function readDocument(page: SentPage): Promise<DocumentResult> {
  const url = new URL(page.url)
  const tooDeep = `${url.origin}: the page is nested deeper than ${MAX_DEPTH} levels`
  if (nestingOf(page.text, 'html') > MAX_DEPTH) return { ok: false, message: tooDeep }
  if (countElements(page.text) > MAX_ELEMENTS) {
    const most = MAX_ELEMENTS.toLocaleString('en-US')
    return { ok: false, message: `${url.origin}: the page has more than ${most} elements` }
  }
  const { load } = await import('cheerio')
  const $ = load(page.text)
  if (isTooDeep($)) return { ok: false, message: tooDeep }
  const said = $('base[href]').first().attr('href') ?? ''
  // It is gone through for every link.
  const base = said.length > MAX_BASE ? url : (URL.parse(said, url.href) ?? url)
  return {
    ok: true,
    document: {
      $,
      url,
      base,
      html: page.text,
      title:
        clean($('head > title').first().text()) ?? metaOf($, 'og:title') ?? clean($('h1').first().text()),
      description:
        metaOf($, 'description') ?? metaOf($, 'og:description') ?? metaOf($, 'twitter:description'),
      language: clean($('html').attr('lang') ?? '') ?? metaOf($, 'og:locale')?.replace('_', '-') ?? null,
      links: linksOf($, base),
      headers: page.headers,
      cookies: page.cookies,
    },
  }
}

/** The content of a meta tag, by its name or property. */
export function metaOf($: CheerioAPI, name: string): string | null {
  const tag = $('meta').filter((_, meta) => {
    const said = $(meta).attr('name') ?? $(meta).attr('property') ?? $(meta).attr('itemprop')
    return said?.trim().toLowerCase() === name && clean($(meta).attr('content') ?? '') !== null
  })
  return clean(tag.first().attr('content') ?? '')
}

/** Text on one line; null when there is none. */
export function clean(text: string, most = MAX_TEXT): string | null {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, most)
    .toWellFormed()
  return line === '' ? null : line
}

/** What a reader sees, a line for each block. */
export function visibleText($: CheerioAPI): string {
  const lines: string[] = []
  let line = ''
  // From the last to the first, so that the stack gives them back in the order of the page.
  const stack: { node: TreeNode; leaving?: true }[] = [{ node: $.root()[0] as TreeNode }]
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { node } = step
    const name = node.name ?? ''
    if (BLOCKS.test(name)) {
      if (line.trim() !== '') lines.push(line.replace(/\s+/g, ' ').trim())
      line = ''
    }
    if (step.leaving === true || INVISIBLE.test(name)) continue
    if (node.type === 'text') line += node.data ?? ''
    if (BLOCKS.test(name)) stack.push({ node, leaving: true })
    for (const child of node.children?.toReversed() ?? []) stack.push({ node: child })
  }
  if (line.trim() !== '') lines.push(line.replace(/\s+/g, ' ').trim())
  return lines.join('\n')
}

const INVISIBLE = /^(script|style|noscript|template|svg|head|iframe|object|canvas)$/
const BLOCKS =
  /^(address|article|aside|blockquote|br|button|dd|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|table|td|th|tr|ul)$/

function linksOf($: CheerioAPI, base: URL): Link[] {
  const seen = new Map<string, Link>()
  for (const element of $('a[href], area[href]').toArray().slice(0, MAX_LINKS)) {
    const url = URL.parse($(element).attr('href')?.trim() ?? '', base.href)
    if (url === null || !/^https?:$/.test(url.protocol)) continue
    url.hash = ''
    const text = clean($(element).text(), 200) ?? clean($(element).attr('title') ?? '', 200) ?? ''
    const known = seen.get(url.href)
    if (known === undefined || known.text === '') seen.set(url.href, { url, text })
  }
  return [...seen.values()]
}

function isTooDeep($: CheerioAPI): boolean {
  let level = [$.root()[0] as TreeNode]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((node) => node.children ?? [])
  }
  return false
}
