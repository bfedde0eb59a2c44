import { cutBlanks, escapeText, MarkdownWriter, WIDE_BULLET } from './markdown-writer.ts'
import { textOf, type TreeNode } from './tree.ts'

export type Rendering = {
  /** The base of relative addresses. */
  base: URL
  /** The length after which the rest may be left out. */
  maxLength: number
  /** Returns true for elements that are left out with everything in them. */
  skips?: (element: TreeNode) => boolean
}

/** The elements whose content is not for people, or cannot be shown as text. */
export const UNREAD_CONTENT = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object']
/** All elements that Markdown leaves out. */
export const UNREAD: ReadonlySet<string> = new Set([...UNREAD_CONTENT, 'head', 'noframes'])
const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside audio body canvas caption center dd details dir div dl dt fieldset figcaption figure footer ' +
    'form frameset header hgroup html legend main menu nav output p section summary tbody td tfoot ' +
    'th thead tr video'
  ).split(' '),
)
const WEB = /^https?:$/
const LINKABLE = /^(https?|mailto|tel):$/

/**
 * Returns a tree as Markdown. It takes time that grows with the tree. The tree must be bounded in depth, as the one of a
 * `WebDocument` is: the calls are nested as deep as its elements.
 */
export function renderMarkdown(root: TreeNode, rendering: Rendering): string {
  const renderer = new Renderer(rendering)
  renderer.renderElement(root)
  return renderer.writer.text
}

class Renderer {
  readonly writer: MarkdownWriter
  readonly #base: string
  readonly #skips: (element: TreeNode) => boolean
  /** The last element of the item that is rendered: no blank line follows a list that ends an item. */
  #lastOfItem: TreeNode | undefined

  constructor({ base, maxLength, skips = () => false }: Rendering) {
    this.writer = new MarkdownWriter(maxLength)
    this.#base = base.href
    this.#skips = skips
  }

  renderElement(element: TreeNode): void {
    const name = element.name ?? ''
    const render = RENDERERS.get(name)
    if (render !== undefined) render(this, element)
    else if (BLOCKS.has(name)) this.renderBlock(element)
    else this.renderChildren(element)
  }

  renderChildren({ children = [] }: TreeNode): void {
    for (const child of children) {
      if (this.writer.isFull) return
      if (child.type === 'text') this.writer.addText(child.data ?? '')
      else if (this.isShown(child)) this.renderElement(child)
    }
  }

  isShown(node: TreeNode): boolean {
    return node.attribs !== undefined && !UNREAD.has(node.name ?? '') && !this.#skips(node)
  }

  renderBlock(element: TreeNode): void {
    this.writer.separate()
    this.renderChildren(element)
    this.writer.separate()
  }

  renderHeading(element: TreeNode): void {
    this.writer.separate()
    this.writer.enterHeading(Number(element.name?.slice(1)))
    this.renderChildren(element)
    this.writer.leaveHeading()
    this.writer.separate()
  }

  renderQuotation(element: TreeNode): void {
    this.writer.separate()
    this.writer.enter('> ', '> ')
    this.renderBlock(element)
    this.writer.leave()
    this.writer.separate()
  }

  renderList(list: TreeNode): void {
    const gap = list === this.#lastOfItem ? 1 : 2
    this.writer.separate(gap)
    let number = Number.parseInt(list.attribs?.['start'] ?? '1', 10)
    if (Number.isNaN(number)) number = 1
    for (const child of list.children ?? []) {
      if (this.writer.isFull) return
      if (child.type === 'text') this.writer.addText(child.data ?? '')
      else if (child.name !== 'li') {
        if (this.isShown(child)) this.renderElement(child)
      } else if (this.isShown(child)) {
        this.renderItem(child, list.name === 'ol' ? `${number}.  ` : WIDE_BULLET)
        number += 1
      }
    }
    this.writer.separate(gap)
  }

  renderItem(item: TreeNode, marker: string): void {
    const lastOfOuter = this.#lastOfItem
    this.#lastOfItem = item.children?.findLast(({ attribs }) => attribs !== undefined)
    this.writer.separate(1)
    this.writer.enter(marker, ' '.repeat(marker.length))
    this.renderChildren(item)
    this.writer.leave()
    this.writer.separate(1)
    this.#lastOfItem = lastOfOuter
  }

  /** Renders a table. Its first row is the header, since Markdown has no table without one. */
  renderTable(table: TreeNode): void {
    if (this.writer.isOnOneLine) return this.renderBlock(table)
    this.writer.separate()
    let isFirst = true
    for (const part of table.children ?? []) {
      const isGroup = GROUPS_OF_ROWS.has(part.name ?? '')
      for (const row of isGroup && this.isShown(part) ? (part.children ?? []) : [part]) {
        if (this.writer.isFull) return
        if (isGroup === (row === part) || !this.isShown(row)) continue
        if (row.name !== 'tr') this.renderElement(row)
        else if (this.#renderRow(row, isFirst)) isFirst = false
      }
    }
    this.writer.separate()
  }

  #renderRow(row: TreeNode, isFirst: boolean): boolean {
    const cells = (row.children ?? []).filter(
      (cell) => (cell.name === 'td' || cell.name === 'th') && this.isShown(cell),
    )
    if (cells.length === 0) return false
    this.writer.startRow()
    for (const cell of cells) {
      this.writer.startCell()
      this.renderChildren(cell)
      this.writer.endCell()
    }
    this.writer.endRow()
    if (isFirst) this.writer.addLines([`|${' --- |'.repeat(cells.length)}`])
    return true
  }

  renderMark(element: TreeNode, start: string, end = start): void {
    if (this.writer.hasMark(start)) return this.renderChildren(element)
    this.writer.startMark(start, end)
    this.renderChildren(element)
    this.writer.endMark()
  }

  renderLink(link: TreeNode): void {
    const address = this.#resolve(link.attribs?.['href'], LINKABLE)
    if (address === null) this.renderChildren(link)
    else this.renderMark(link, '[', `](${destinationOf(address, link)})`)
  }

  /** Renders an image that has a description and an address of the web. Others say nothing in Markdown. */
  renderImage(image: TreeNode): void {
    const { src, 'data-src': later, alt = '' } = image.attribs ?? {}
    const address = this.#resolve(src || later, WEB)
    if (address === null || alt.trim() === '') return
    this.writer.addPiece(`![${escapeText(cleanAttribute(alt))}](${destinationOf(address, image)})`)
  }

  renderCode(element: TreeNode): void {
    const code = textOf(element, Number.POSITIVE_INFINITY).replace(/\s+/g, ' ').trim()
    if (code === '') return this.renderChildren(element)
    const longest = code.match(/`+/g)?.reduce((most, run) => Math.max(most, run.length), 0) ?? 0
    const quotes = '`'.repeat(longest + 1)
    const blank = code.startsWith('`') || code.endsWith('`') ? ' ' : ''
    this.writer.addPiece(quotes + blank + code + blank + quotes)
  }

  /** Renders preformatted text as a block of code, with its lines as they are. */
  renderPreformatted(element: TreeNode): void {
    if (this.writer.isOnOneLine) return this.renderCode(element)
    const lines = textOf(element, Number.POSITIVE_INFINITY, '\n', /^br$/)
      .replace(/^\n|\n$/g, '')
      .split(/\r?\n/)
      .map(cutBlanks)
      .filter((line, n, all) => line !== '' || all[n - 1] !== '')
    if (lines.every((line) => line === '')) return this.writer.separate()
    const code = element.children?.find(({ name }) => name === 'code') ?? element
    const language = /(?:^|\s)lang(?:uage)?-(\S+)/.exec(code.attribs?.['class'] ?? '')?.[1] ?? ''
    const longest = lines.reduce((most, line) => Math.max(most, /^`*/.exec(line)?.[0].length ?? 0), 2)
    const fence = '`'.repeat(longest + 1)
    this.writer.separate()
    this.writer.addLines([fence + language, ...lines, fence])
    this.writer.separate()
  }

  renderOption(option: TreeNode): void {
    this.writer.addText(' ')
    this.renderChildren(option)
    this.writer.addText(' ')
  }

  renderRule(): void {
    this.writer.separate()
    this.writer.addPiece('* * *')
    this.writer.separate()
  }

  #resolve(address: string | undefined, protocols: RegExp): string | null {
    const url = address === undefined ? null : URL.parse(address, this.#base)
    return url !== null && protocols.test(url.protocol) ? url.href : null
  }
}

const GROUPS_OF_ROWS: ReadonlySet<string> = new Set(['thead', 'tbody', 'tfoot'])

const RENDERERS: ReadonlyMap<string, (renderer: Renderer, element: TreeNode) => void> = new Map(
  Object.entries<(renderer: Renderer, element: TreeNode) => void>({
    a: (renderer, element) => renderer.renderLink(element),
    b: (renderer, element) => renderer.renderMark(element, '**'),
    blockquote: (renderer, element) => renderer.renderQuotation(element),
    br: (renderer) => renderer.writer.addBreak(),
    code: (renderer, element) => renderer.renderCode(element),
    em: (renderer, element) => renderer.renderMark(element, '_'),
    hr: (renderer) => renderer.renderRule(),
    i: (renderer, element) => renderer.renderMark(element, '_'),
    img: (renderer, element) => renderer.renderImage(element),
    li: (renderer, element) => renderer.renderItem(element, WIDE_BULLET),
    option: (renderer, element) => renderer.renderOption(element),
    ol: (renderer, element) => renderer.renderList(element),
    pre: (renderer, element) => renderer.renderPreformatted(element),
    strong: (renderer, element) => renderer.renderMark(element, '**'),
    table: (renderer, element) => renderer.renderTable(element),
    ul: (renderer, element) => renderer.renderList(element),
    ...Object.fromEntries(
      ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((name) => [
        name,
        (renderer: Renderer, element: TreeNode) => renderer.renderHeading(element),
      ]),
    ),
  }),
)

/** Returns the address and the title of a link or image. */
function destinationOf(address: string, { attribs }: TreeNode): string {
  const escaped = address.replace(/[<>()]/g, '\\$&').replaceAll('|', '%7C')
  const title = cleanAttribute(attribs?.['title'] ?? '').replaceAll('"', '\\"')
  return title === '' ? escaped : `${escaped} "${title}"`
}

function cleanAttribute(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
