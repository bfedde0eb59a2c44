import { findArticle } from './article.ts'
import { visibleText, type WebDocument } from './document.ts'
import { renderMarkdown, UNREAD } from './markdown-renderer.ts'
import type { TreeNode } from './tree.ts'

const MAX_MARKDOWN = 100_000
/** The length of a text that may stand for the whole page, without what is around it. */
const LONG = 200
const NOISE: ReadonlySet<string> = new Set(['form', 'nav', 'embed', 'dialog'])
const FRAMES: ReadonlySet<string> = new Set(['header', 'footer', 'aside'])

/** Returns the readable part of a page as Markdown, with absolute links. */
export async function toMarkdown(page: WebDocument): Promise<string> {
  const { elements, base } = page
  const body = elements.named('body')[0] ?? elements.all[0] ?? { type: 'root' }
  const article = await findArticle(page, body)
  const { root, skips } = article === null ? mainPart(body) : { root: article, skips: () => false }
  const markdown = renderMarkdown(root, { base, maxLength: MAX_MARKDOWN, skips })
  return cut(markdown === '' ? visibleText(page.root) : markdown)
}

type MainPart = { root: TreeNode; skips: (element: TreeNode) => boolean }

/** Returns the element that holds the content of a page, with a function that finds in it what is no content. */
function mainPart(body: TreeNode): MainPart {
  const main = findMain(body)
  if (main !== null && textWithout(main, isNoise).trim().length > LONG) return { root: main, skips: isNoise }
  const isAround = (element: TreeNode) => isNoise(element) || isFrame(element)
  // A small page may have its whole content in its header and footer.
  return { root: body, skips: textWithout(body, isAround).length > LONG ? isAround : isNoise }
}

function isNoise({ name = '', attribs = {} }: TreeNode): boolean {
  const { hidden, role, 'aria-hidden': ariaHidden } = attribs
  return NOISE.has(name) || hidden !== undefined || ariaHidden === 'true' || role === 'navigation'
}

function isFrame({ name = '', attribs }: TreeNode): boolean {
  const role = attribs?.['role']
  return FRAMES.has(name) || role === 'banner' || role === 'contentinfo'
}

function findMain(element: TreeNode): TreeNode | null {
  for (const child of element.children ?? []) {
    if (child.attribs === undefined || UNREAD.has(child.name ?? '') || isNoise(child)) continue
    const isMain = child.name === 'main' || child.attribs['role'] === 'main'
    const found = isMain ? child : findMain(child)
    if (found !== null) return found
  }
  return null
}

/** Returns the text of an element without the elements that are not read and those that `skips` finds. */
function textWithout(element: TreeNode, skips: (element: TreeNode) => boolean): string {
  let text = ''
  for (const child of element.children ?? []) {
    if (child.type === 'text') text += child.data ?? ''
    else if (child.attribs !== undefined && !UNREAD.has(child.name ?? '') && !skips(child))
      text += textWithout(child, skips)
  }
  return text
}

function cut(text: string): string {
  return text.length <= MAX_MARKDOWN ? text : `${text.slice(0, MAX_MARKDOWN).toWellFormed()}\n\n[cut]`
}
