import type { Thing } from './json-ld.ts'
import { type Elements, textOf, type TreeNode, walk } from './tree.ts'

const MAX_ITEMS = 300
const MAX_DEPTH = 20
/** The most elements that are visited for all items of a page: items may refer to each other again and again. */
const MAX_STEPS = 500_000
const MAX_REFERENCES = 100
const MAX_TEXT = 20_000
const MAX_WORDS = 5_000
const ADDRESS_ATTRIBUTES: Record<string, string> = {
  a: 'href',
  area: 'href',
  link: 'href',
  img: 'src',
  audio: 'src',
  video: 'src',
  embed: 'src',
  iframe: 'src',
  source: 'src',
  object: 'data',
}

type Page = { base: URL; byId: ReadonlyMap<string, TreeNode>; steps: number }

/** Returns the things that a page marks with `itemscope` and `itemprop`, in the form of JSON-LD. */
export function readMicrodata({ all }: Elements, base: URL): Thing[] {
  const items = all
    .filter(({ attribs }) => attribs?.['itemscope'] !== undefined && attribs['itemprop'] === undefined)
    .slice(0, MAX_ITEMS)
  if (items.length === 0) return []
  const byId = new Map<string, TreeNode>()
  for (const node of all) {
    const id = node.attribs?.['id']
    if (id !== undefined && !byId.has(id)) byId.set(id, node)
  }
  const page = { base, byId, steps: 0 }
  return items.map((item) => readItem(page, item, 0))
}

function readItem(page: Page, item: TreeNode, depth: number): Thing {
  const types = wordsOf(item, 'itemtype')
  const thing: Thing = types.length === 0 ? {} : { '@type': types.length === 1 ? types[0] : types }
  if (depth > MAX_DEPTH) return thing
  for (const element of propertiesOf(page, item)) {
    const value = valueOf(page, element, depth)
    for (const name of wordsOf(element, 'itemprop')) {
      const before = thing[name]
      thing[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
    }
  }
  return thing
}

/** Returns the properties inside an item and inside the elements that it refers to, but not those of nested items. */
function propertiesOf(page: Page, item: TreeNode): TreeNode[] {
  const referred = wordsOf(item, 'itemref')
    .slice(0, MAX_REFERENCES)
    .flatMap((id) => page.byId.get(id) ?? [])
    .filter((node) => node !== item && !isWithinItem(node))
  const found: TreeNode[] = []
  for (const root of [item, ...referred]) {
    for (const node of walk(root, (inner) => inner === item || inner.attribs?.['itemscope'] === undefined)) {
      page.steps += 1
      if (page.steps > MAX_STEPS || found.length >= MAX_ITEMS) return found
      if (node !== item && node.attribs?.['itemprop'] !== undefined) found.push(node)
    }
  }
  return found
}

/**
 * Returns true if an element is inside an item. A property belongs to the nearest item around it, so an element that is
 * referred to from elsewhere must be in none.
 */
function isWithinItem(node: TreeNode): boolean {
  for (let around = node.parent ?? null; around !== null; around = around.parent ?? null) {
    if (around.attribs?.['itemscope'] !== undefined) return true
  }
  return false
}

const wordsOf = ({ attribs }: TreeNode, name: string): string[] =>
  (attribs?.[name] ?? '')
    .slice(0, MAX_WORDS)
    .split(/\s+/)
    .filter((word) => word !== '')

function valueOf(page: Page, element: TreeNode, depth: number): unknown {
  const { itemscope, content, datetime, ...attributes } = element.attribs ?? {}
  if (itemscope !== undefined) return readItem(page, element, depth + 1)
  if (content !== undefined) return content.trim()
  const attribute = ADDRESS_ATTRIBUTES[element.name ?? '']
  const address = attribute === undefined ? undefined : attributes[attribute]
  if (address !== undefined)
    return /^(tel|mailto):/i.test(address) ? address : (URL.parse(address, page.base.href)?.href ?? address)
  const text = textOf(element, MAX_TEXT)
  return element.name === 'time' ? (datetime ?? text.trim()) : text.replace(/\s+/g, ' ').trim()
}
