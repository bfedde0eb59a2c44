import type { CheerioAPI, load } from 'cheerio'
import { countElements, nestingOf } from './nesting.ts'
import type { Page } from './page-fetch.ts'
import { type Elements, indexElements, textOf, type TreeNode } from './tree.ts'

/** The input for reading a page. */
export type SentPage = Pick<Page, 'url' | 'text' | 'headers' | 'cookies'>

/** A page that has been read: its tree, and the values that most callers need. */
export type WebDocument = {
  $: CheerioAPI
  root: TreeNode
  elements: Elements
  url: URL
  /** The base of the page's relative addresses. */
  base: URL
  html: string
  title: string | null
  description: string | null
  /** The language as the page declares it, such as `de-AT`. */
  language: string | null
  links: Link[]
  headers: Record<string, string[]>
  cookies: string[]
}

export type Link = { url: URL; text: string }

// Browsers stop at 512 levels. Deeper trees are made to exhaust programs that walk them.
const MAX_DEPTH = 512
/** The most elements of a page. The longest lists of encyclopaedias have half as many. */
const MAX_ELEMENTS = 100_000
const MAX_LINKS = 5_000
const MAX_BASE = 2_000
const MAX_TEXT = 2_000

export type DocumentResult = { ok: true; document: WebDocument } | { ok: false; message: string }

/**
 * The library, loaded when the first page is read: few processes of few installations read pages. It is kept here because
 * a repeated import takes time for each page.
 */
let library: { load: typeof load } | undefined

export async function readDocument(page: SentPage): Promise<DocumentResult> {
  const url = new URL(page.url)
  const tooDeep = `${url.origin}: the page is nested deeper than ${MAX_DEPTH} levels`
  if (nestingOf(page.text, 'html') > MAX_DEPTH) return { ok: false, message: tooDeep }
  if (countElements(page.text) > MAX_ELEMENTS) {
    const limit = MAX_ELEMENTS.toLocaleString('en-US')
    return { ok: false, message: `${url.origin}: the page has more than ${limit} elements` }
  }
  library ??= await import('cheerio')
  const $ = library.load(page.text)
  const root = $.root()[0] as TreeNode
  const elements = indexElements(root)
  if (elements.depth > MAX_DEPTH) return { ok: false, message: tooDeep }
  const href =
    elements.named('base').find(({ attribs }) => attribs?.['href'] !== undefined)?.attribs?.['href'] ?? ''
  // Each link is resolved against the base, so a very long one is ignored.
  const base = href.length > MAX_BASE ? url : (URL.parse(href, url.href) ?? url)
  return {
    ok: true,
    document: {
      $,
      root,
      elements,
      url,
      base,
      html: page.text,
      title:
        clean(wholeText(elements.named('title').find(({ parent }) => parent?.name === 'head'))) ??
        metaOf(elements, 'og:title') ??
        clean(wholeText(elements.named('h1')[0])),
      description:
        metaOf(elements, 'description') ??
        metaOf(elements, 'og:description') ??
        metaOf(elements, 'twitter:description'),
      language:
        clean(elements.named('html')[0]?.attribs?.['lang'] ?? '') ??
        metaOf(elements, 'og:locale')?.replace('_', '-') ??
        null,
      links: linksOf(elements, base),
      headers: page.headers,
      cookies: page.cookies,
    },
  }
}

/** Returns the content of a meta tag, found by its name or property. */
export function metaOf(elements: Elements, name: string): string | null {
  for (const { attribs = {} } of elements.named('meta')) {
    const said = attribs['name'] ?? attribs['property'] ?? attribs['itemprop']
    const content = said?.trim().toLowerCase() === name ? clean(attribs['content'] ?? '') : null
    if (content !== null) return content
  }
  return null
}

/** Returns all text in an element, or an empty text if there is no element. */
export function wholeText(element: TreeNode | undefined): string {
  return element === undefined ? '' : textOf(element, Number.POSITIVE_INFINITY)
}

/** Returns a text on one line, cut to a maximum length, or null if it is empty. */
export function clean(text: string, maxLength = MAX_TEXT): string | null {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed()
  return line === '' ? null : line
}

/** Returns the text that people see, with one line for each block. */
export function visibleText(root: TreeNode): string {
  const lines: string[] = []
  let line = ''
  const endLine = () => {
    const text = line.trim()
    if (text !== '') lines.push(text.replace(/\s+/g, ' '))
    line = ''
  }
  const visit = ({ name = '', children = [] }: TreeNode) => {
    if (INVISIBLE.has(name)) return
    const isBlock = BLOCKS.has(name)
    if (isBlock) endLine()
    for (const child of children) {
      if (child.type === 'text') line += child.data ?? ''
      else if (child.children !== undefined) visit(child)
    }
    if (isBlock) endLine()
  }
  visit(root)
  endLine()
  return lines.join('\n')
}

const INVISIBLE: ReadonlySet<string> = new Set(
  'script style noscript template svg head iframe object canvas'.split(' '),
)
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote br button dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li ' +
    'main nav ol option p pre section table td th tr ul'
  ).split(' '),
)

function linksOf(elements: Elements, base: URL): Link[] {
  const seen = new Map<string, Link>()
  const links = elements.named('a', 'area').filter(({ attribs }) => attribs?.['href'] !== undefined)
  for (const element of links.slice(0, MAX_LINKS)) {
    const url = URL.parse(element.attribs?.['href']?.trim() ?? '', base.href)
    if (url === null || !/^https?:$/.test(url.protocol)) continue
    url.hash = ''
    const text = clean(wholeText(element), 200) ?? clean(element.attribs?.['title'] ?? '', 200) ?? ''
    const known = seen.get(url.href)
    if (known === undefined || known.text === '') seen.set(url.href, { url, text })
  }
  return [...seen.values()]
}
