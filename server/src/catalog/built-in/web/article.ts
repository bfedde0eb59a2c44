import type { WebDocument } from './document.ts'
import { UNREAD, UNREAD_CONTENT } from './markdown-renderer.ts'
import { countElements, withoutElements } from './nesting.ts'
import type { TreeNode } from './tree.ts'

// The time to find an article grows faster than the page, so a larger page counts as none.
const MAX_HTML = 400_000
const MAX_ENTITIES = 20_000
const MAX_ELEMENTS = 10_000
/** The shortest paragraph that Readability considers, and the score from which it takes a page for an article. */
const LONG_PARAGRAPH = 140
const MIN_SCORE = 20

let loaded: Awaited<ReturnType<typeof importReaders>> | undefined

/** Loads the libraries when the first page is read: loading them at start made it take a fifth longer. */
export async function loadReaders() {
  return (loaded ??= await importReaders())
}

async function importReaders() {
  const [{ Readability }, { parseHTML }] = await Promise.all([
    import('@mozilla/readability'),
    import('linkedom'),
  ])
  return { Readability, parseHTML }
}

/**
 * Returns the article of a page, or null if the page is not an article. Readability needs a tree of its own, which takes
 * several times as long as the page itself, so it is asked only about pages with long paragraphs.
 */
export async function findArticle(page: WebDocument, body: TreeNode): Promise<TreeNode | null> {
  const { score, shown } = measureText(body)
  if (score <= MIN_SCORE) return null
  const html = shortenBlanks(withoutElements(page.$.html(), UNREAD_CONTENT))
  const isLarge = html.length > MAX_HTML || html.split('&').length > MAX_ENTITIES
  if (isLarge || countElements(html) > MAX_ELEMENTS) return null
  const { Readability, parseHTML } = await loadReaders()
  const article = new Readability<DomNode>(parseHTML(html).document, {
    serializer: (node) => node as DomNode,
    disableJSONLD: true,
  }).parse()
  const found = article?.content ? treeOf(article.content) : null
  return found !== null && measureText(found).shown > shown / 4 ? found : null
}

/** The part of a DOM node that is used here. The complete types belong to browsers and are not available. */
type DomNode = {
  readonly nodeType: number
  readonly localName: string
  readonly nodeValue: string | null
  readonly childNodes: Iterable<DomNode>
  readonly attributes: Iterable<{ name: string; value: string }>
}

const TEXT_NODES: ReadonlySet<number> = new Set([3, 4])

function treeOf(node: DomNode): TreeNode {
  if (TEXT_NODES.has(node.nodeType)) return { type: 'text', data: node.nodeValue ?? '' }
  if (node.nodeType !== 1) return { type: 'comment' }
  return {
    type: 'tag',
    name: node.localName,
    attribs: Object.fromEntries(Array.from(node.attributes, ({ name, value }) => [name, value])),
    children: Array.from(node.childNodes, treeOf),
  }
}

/**
 * Shortens long runs of blanks: a pattern for blanks at the end of a text would follow a run from each of its characters.
 */
function shortenBlanks(html: string): string {
  return html.replace(/(?:&nbsp;|\s){100,}/g, (run) => (run.includes('\n') ? '\n' : ' '))
}

/** A paragraph, and where its first visible character stands in the text of the page. */
type Paragraph = { from: number }

/**
 * Returns the score that Readability's function `isProbablyReaderable` gives to a tree, and the length of its text
 * without the blanks between elements. The function itself needs a DOM and reads the text of nested elements again and
 * again.
 */
function measureText(root: TreeNode): { score: number; shown: number } {
  let [score, shown, length, shownEnd] = [0, 0, 0, 0]
  /** The paragraphs in which no visible character has been found yet. */
  let blank: Paragraph[] = []
  const visitText = (text: string) => {
    const words = text.trimStart()
    if (words !== '') {
      for (const paragraph of blank) paragraph.from = length + text.length - words.length
      blank = []
      const end = text.trimEnd().length
      shownEnd = length + end
      shown += words.length - (text.length - end)
    }
    length += text.length
  }
  const visit = (node: TreeNode, isInItem: boolean) => {
    const paragraph = isParagraph(node, isInItem) ? { from: Number.POSITIVE_INFINITY } : undefined
    if (paragraph !== undefined) blank.push(paragraph)
    for (const child of node.children ?? []) {
      if (child.type === 'text') visitText(child.data ?? '')
      else if (child.attribs !== undefined && !UNREAD.has(child.name ?? ''))
        visit(child, isInItem || node.name === 'li')
    }
    if (paragraph !== undefined) score += Math.sqrt(Math.max(0, shownEnd - paragraph.from - LONG_PARAGRAPH))
  }
  visit(root, false)
  return { score, shown }
}

/** Readability's names of elements that are not part of an article, and of those that may be all the same. */
const UNLIKELY =
  /-ad-|ai2html|banner|breadcrumbs|combx|comment|community|cover-wrap|disqus|extra|footer|gdpr|header|legends|menu|related|remark|replies|rss|shoutbox|sidebar|skyscraper|social|sponsor|supplemental|ad-break|agegate|pagination|pager|popup|yom-remote/i
const LIKELY = /and|article|body|column|content|main|shadow/i
const HIDDEN_STYLE = /(?:^|;)\s*display\s*:\s*none\b/i

/** Returns true for elements that Readability counts as paragraphs. */
function isParagraph({ name, attribs = {}, children = [] }: TreeNode, isInItem: boolean): boolean {
  const isCounted =
    (name === 'p' && !isInItem) ||
    name === 'pre' ||
    name === 'article' ||
    (name === 'div' && children.some((child) => child.name === 'br'))
  if (!isCounted) return false
  const { id = '', class: classes = '', style = '', hidden, 'aria-hidden': isHidden } = attribs
  if (hidden !== undefined || HIDDEN_STYLE.test(style)) return false
  if (isHidden === 'true' && !classes.includes('fallback-image')) return false
  const names = `${classes} ${id}`
  return !UNLIKELY.test(names) || LIKELY.test(names)
}
