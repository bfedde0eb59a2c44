import type TurndownService from 'turndown'
import { visibleText, type WebDocument } from './document.ts'
import { countElements, withoutElements } from './nesting.ts'

const MAX_MARKDOWN = 100_000
// Finding the main part takes time that grows with the page; a larger one is read as plain text.
const MAX_HTML = 400_000
const MAX_ENTITIES = 20_000
const MAX_ELEMENTS = 10_000
const UNREAD = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']
const NOISE = 'form, nav, embed, dialog, [hidden], [aria-hidden="true"], [role="navigation"]'
/** Without these words in it a page has none of the elements that the selector finds. */
const MAY_HAVE_NOISE = /<(form|nav|embed|dialog)|hidden|navigation/i
const FRAME = 'header, footer, aside, [role="banner"], [role="contentinfo"]'
const MAY_HAVE_FRAME = /<(header|footer|aside)|banner|contentinfo/i

let loaded: Awaited<ReturnType<typeof importReaders>> | undefined

/** Loads the libraries when a page is first read: with them a start took a fifth longer. */
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

/** The readable part of a page as Markdown, with absolute links. */
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

/** Whoever looks for blanks at the end of a text follows a run of them from each of its places. */
function shortenBlanks(html: string): string {
  return html.replace(/(?:&nbsp;|\s){100,}/g, (run) => (run.includes('\n') ? '\n' : ' '))
}

/** As much of the DOM as is used here: its types come with browsers, and there is none. */
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

/** The length of a paragraph from which on Readability looks at it at all. */
const LONG_PARAGRAPH = 140

/** Asks Readability, in an order that spares most paragraphs its selectors and their styles, which take longest. */
function mayBeArticle({ isProbablyReaderable }: Readers, document: Dom): boolean {
  return isProbablyReaderable(document, {
    minContentLength: LONG_PARAGRAPH,
    visibilityChecker: (node: DomNode) =>
      (node.textContent ?? '').trim().length >= LONG_PARAGRAPH && isVisible(node),
  })
}

/** Tells what Readability tells itself, without an object for each style that is not there. */
function isVisible(node: DomNode): boolean {
  if (node.hasAttribute('style') && node.style?.display === 'none') return false
  if (node.hasAttribute('hidden')) return false
  return node.getAttribute('aria-hidden') !== 'true' || (node.className ?? '').includes('fallback-image')
}

/** Readability takes the tree apart, so it works on a copy. */
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
  // A small page may say all it has to say in its header and footer.
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

/** Blanks at the ends of lines are cut first, by hand: a pattern would follow each run of them from each of its places. */
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
