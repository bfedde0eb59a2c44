import type TurndownService from 'turndown'
import { visibleText, type WebDocument } from './document.ts'
import { countElements, withoutElements } from './nesting.ts'

const MAX_MARKDOWN = 100_000
// The time to find the main part grows with the page, so a larger page is read as plain text.
const MAX_HTML = 400_000
const MAX_ENTITIES = 20_000
const MAX_ELEMENTS = 10_000
const UNREAD = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']
const NOISE = 'form, nav, embed, dialog, [hidden], [aria-hidden="true"], [role="navigation"]'
/** Matches a page that may contain elements of the selector above. Other pages skip the search. */
const MAY_HAVE_NOISE = /<(form|nav|embed|dialog)|hidden|navigation/i
const FRAME = 'header, footer, aside, [role="banner"], [role="contentinfo"]'
const MAY_HAVE_FRAME = /<(header|footer|aside)|banner|contentinfo/i

let loaded: Awaited<ReturnType<typeof importReaders>> | undefined

/** Loads the libraries when the first page is read: loading them at start made it take a fifth longer. */
export async function loadReaders() {
  return (loaded ??= await importReaders())
}

async function importReaders() {
  const [{ isProbablyReaderable, Readability }, { parseHTML }, { default: Turndown }] = await Promise.all([
    import('@mozilla/readability'),
    import('linkedom'),
    import('turndown'),
  ])
  return { isProbablyReaderable, Readability, parseHTML, turndown: createTurndown(Turndown) }
}
type Readers = Awaited<ReturnType<typeof importReaders>>

/** Returns the readable part of a page as Markdown, with absolute links. */
export async function toMarkdown(page: WebDocument): Promise<string> {
  const html = shortenBlanks(withoutElements(page.$.html(), UNREAD))
  if (html.length > MAX_HTML || html.split('&').length > MAX_ENTITIES || countElements(html) > MAX_ELEMENTS)
    return cut(visibleText(page.$))
  const readers = await loadReaders()
  const document = readers.parseHTML(html).document as Dom
  makeAbsolute(document, page.base)
  const article = mayBeArticle(readers, document) ? readArticle(readers, document) : null
  const markdown = tidy(readers.turndown.turndown(article ?? mainPart(document, html)))
  return cut(markdown === '' ? visibleText(page.$) : markdown)
}

/**
 * Shortens long runs of blanks: a pattern for blanks at the end of a text would follow a run from each of its characters.
 */
function shortenBlanks(html: string): string {
  return html.replace(/(?:&nbsp;|\s){100,}/g, (run) => (run.includes('\n') ? '\n' : ' '))
}

/** The part of the DOM that is used here. The complete types belong to browsers and are not available. */
type DomNode = {
  readonly nodeName: string
  readonly parentNode: DomNode | null
  readonly previousElementSibling: DomNode | null
  readonly textContent: string | null
  readonly className: string
  readonly style?: { display: string }
  querySelector(selector: string): DomNode | null
  getElementsByTagName(name: string): Iterable<DomNode>
  hasAttribute(name: string): boolean
  querySelectorAll(selector: string): Iterable<DomNode>
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  remove(): void
}
type Dom = DomNode & { body: DomNode | null; documentElement: DomNode; cloneNode(deep: boolean): Dom }

/** The length of the shortest paragraph that Readability considers. */
const LONG_PARAGRAPH = 140

/**
 * Asks Readability if the page is an article. The length of a paragraph is checked first, because that spares most
 * paragraphs the checks of selectors and styles, which take longest.
 */
function mayBeArticle({ isProbablyReaderable }: Readers, document: Dom): boolean {
  return isProbablyReaderable(document, {
    minContentLength: LONG_PARAGRAPH,
    visibilityChecker: (node: DomNode) =>
      (node.textContent ?? '').trim().length >= LONG_PARAGRAPH && isVisible(node),
  })
}

/** Does the same check as Readability, without creating an object for each missing style. */
function isVisible(node: DomNode): boolean {
  if (node.hasAttribute('style') && node.style?.display === 'none') return false
  if (node.hasAttribute('hidden')) return false
  return node.getAttribute('aria-hidden') !== 'true' || (node.className ?? '').includes('fallback-image')
}

/** Returns the article of a page. Readability changes the tree, so it works on a copy. */
function readArticle({ Readability }: Readers, document: Dom): DomNode | null {
  const copy = document.cloneNode(true)
  const article = new Readability<DomNode>(copy, { serializer: (node) => node, disableJSONLD: true }).parse()
  const all = document.body?.textContent?.length ?? 0
  return article?.content && (article.length ?? 0) > all / 4 ? article.content : null
}

function mainPart(document: Dom, html: string): DomNode {
  const body = document.body ?? document.documentElement
  if (MAY_HAVE_NOISE.test(html)) for (const noise of body.querySelectorAll(NOISE)) noise.remove()
  const main = document.querySelector('main, [role="main"]')
  if (main !== null && (main.textContent?.trim().length ?? 0) > 200) return main
  const frames = MAY_HAVE_FRAME.test(html) ? [...body.querySelectorAll(FRAME)] : []
  const framed = frames.reduce((sum, frame) => sum + (frame.textContent?.length ?? 0), 0)
  // A small page may have its whole content in its header and footer.
  if ((body.textContent?.length ?? 0) - framed > 200) for (const frame of frames) frame.remove()
  return body
}

function makeAbsolute(document: Dom, base: URL): void {
  for (const link of document.getElementsByTagName('a')) {
    const href = link.getAttribute('href')
    if (href === null) continue
    const target = URL.parse(href, base.href)
    if (target !== null && /^(https?|mailto|tel):$/.test(target.protocol))
      link.setAttribute('href', target.href)
    else link.removeAttribute('href')
  }
  for (const image of document.getElementsByTagName('img')) {
    const source = URL.parse(image.getAttribute('src') ?? image.getAttribute('data-src') ?? '', base.href)
    const isShown =
      source !== null && /^https?:$/.test(source.protocol) && (image.getAttribute('alt') ?? '') !== ''
    if (isShown) image.setAttribute('src', source.href)
    else image.remove()
  }
}

function createTurndown(Turndown: typeof TurndownService): TurndownService {
  const turndown = new Turndown({
    headingStyle: 'atx',
    bulletListMarker: '-',
    codeBlockStyle: 'fenced',
  })
  turndown.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content) => ` ${content.replace(/\s+/g, ' ').replaceAll('|', '/').trim()} |`,
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement: (content, row: DomNode) => {
      const cells = content.split('|').length - 1
      const isFirst = row.previousElementSibling === null && row.parentNode?.previousElementSibling === null
      const rule = isFirst || row.parentNode?.nodeName === 'THEAD' ? `\n|${' --- |'.repeat(cells)}` : ''
      return cells === 0 ? '' : `\n|${content}${rule}`
    },
  })
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  turndown.addRule('part', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  return turndown
}

/**
 * Tidies Markdown. Blanks at the ends of lines are removed first and without a pattern, because a pattern would follow
 * each run of blanks from each of its characters.
 */
function tidy(markdown: string): string {
  return markdown
    .split('\n')
    .map(cutBlanks)
    .join('\n')
    .replace(/^( *)-   /gm, '$1- ')
    .replace(/^[ \t\u00a0]*\[\s*\]\([^)\n]*\)$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function cutBlanks(line: string): string {
  let end = line.length
  while (end > 0 && ' \t\u00a0'.includes(line[end - 1] ?? 'x')) end -= 1
  return line.slice(0, end)
}

function cut(text: string): string {
  return text.length <= MAX_MARKDOWN ? text : `${text.slice(0, MAX_MARKDOWN).toWellFormed()}\n\n[cut]`
}
