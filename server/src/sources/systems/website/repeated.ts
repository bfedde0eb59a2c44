import { clean, type WebDocument } from '../../../catalog/built-in/web/document.ts'
import { fieldName, type ItemList, MAX_ITEMS } from './item-list.ts'

const MIN_ITEMS = 3
const MAX_LISTS = 300
/** The maximum number of elements in an item. A larger element is a section of the page. */
const MAX_PARTS = 200

/**
 * A node of the parsed tree. The tree is walked directly: a query for every element would take minutes on pages made
 * for it.
 */
type Node = {
  type: string
  name?: string
  data?: string
  attribs?: Record<string, string>
  children?: Node[]
}

/** Finds cards and list items: children of one parent that look the same, each with its own text or link. */
export function listRepeated({ $, base }: WebDocument): ItemList[] {
  const lists: ItemList[] = []
  const open: { node: Node; heading: string }[] = [{ node: $.root()[0] as Node, heading: '' }]
  for (let at = open.pop(); at !== undefined && lists.length < MAX_LISTS; at = open.pop()) {
    const { node, heading: above } = at
    if (/^(nav|header|footer|table|select|svg|head|script|style)$/.test(node.name ?? '')) continue
    let heading = above
    const groups = new Map<string, Node[]>()
    for (const child of elementsOf(node)) {
      if (/^h[1-6]$/.test(child.name ?? '')) heading = textOf(child)
      open.push({ node: child, heading })
      const look = `${child.name} ${(child.attribs?.['class'] ?? '').trim().split(/\s+/).sort().join('.')}`
      const group = groups.get(look) ?? []
      if (group.push(child) === 1) groups.set(look, group)
    }
    for (const [look, group] of groups) {
      if (group.length < MIN_ITEMS || NO_ITEMS.test(look)) continue
      const items = group
        .slice(0, MAX_ITEMS)
        .map((child) => itemOf(child, base))
        .filter((item) => item !== null)
      const { id = '', class: named = '', 'aria-label': label = '' } = node.attribs ?? {}
      const about = [above, id, named, label, look].join(' ')
      if (items.length >= MIN_ITEMS) lists.push({ about, rank: 2, items })
    }
  }
  return lists
}

const NO_ITEMS = /^(script|style|br|hr|option|dt|dd|p|span|b|i|h\d|img|input|meta|link) /

/** Reads the fields of an element: headings, classes, links, pictures. */
function itemOf(element: Node, base: URL): Record<string, string> | null {
  const parts = partsOf(element)
  if (parts === null) return null
  const item = Object.create(null) as Record<string, string>
  const add = (name: string, text: string | null) => {
    if (name !== '' && text !== null) item[name] ??= text
  }
  const first = (wanted: RegExp) => parts.find(({ name = '' }) => wanted.test(name))
  const heading = first(/^h[1-6]$/)
  const anchor = parts.find(({ name, attribs }) => name === 'a' && attribs?.['href'] !== undefined)
  if (heading !== undefined) add('name', clean(textOf(heading)))
  for (const part of parts.slice(1)) {
    const label = labelOf(part)
    if (label === '' || elementsOf(part).some((child) => labelOf(child) !== '')) continue
    // The last part of a name such as `product-card__price` is the field's name.
    add(fieldName(label.replace(/^.*__/, '')), clean(part.attribs?.['content'] ?? textOf(part)))
  }
  add('url', addressOf(anchor?.attribs?.['href'], base))
  add('image', addressOf(first(/^img$/)?.attribs?.['src'], base))
  if (item['name'] === undefined)
    add('name', (anchor && clean(textOf(anchor))) ?? clean(textOf(element), 300))
  return Object.keys(item).length === 0 ? null : item
}

const labelOf = ({ attribs }: Node): string =>
  attribs?.['itemprop'] ?? (attribs?.['class'] ?? '').trim().split(/\s+/)[0] ?? ''

const elementsOf = ({ children = [] }: Node): Node[] => children.filter(({ type }) => type === 'tag')

/** Returns an element and its descendants in page order, or null if there are too many. */
function partsOf(element: Node): Node[] | null {
  const parts: Node[] = []
  const open = [element]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (parts.push(node) > MAX_PARTS) return null
    open.push(...elementsOf(node).slice(0, MAX_PARTS).toReversed())
  }
  return parts
}

function textOf(element: Node): string {
  let text = ''
  const open = [element]
  for (let node = open.pop(); node !== undefined && text.length < MAX_TEXT; node = open.pop()) {
    if (node.type === 'text') text += node.data ?? ''
    if (!/^(script|style)$/.test(node.name ?? ''))
      open.push(...(node.children ?? []).slice(0, MAX_ITEMS).toReversed())
  }
  return text
}

const MAX_TEXT = 2000

function addressOf(address: string | undefined, base: URL): string | null {
  const url = address === undefined ? null : URL.parse(address, base.href)
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null
}
