import type { CheerioAPI } from 'cheerio'
import type { Thing } from './json-ld.ts'

type Element = Parameters<CheerioAPI>[0]

const MAX_ITEMS = 300
const MAX_DEPTH = 20
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

/** Things that a page marks up by `itemscope` and `itemprop`, in the shape of JSON-LD. */
export function readMicrodata($: CheerioAPI, base: URL): Thing[] {
  return $('[itemscope]')
    .filter((_, element) => $(element).attr('itemprop') === undefined)
    .toArray()
    .slice(0, MAX_ITEMS)
    .map((element) => readItem($, element, base, 0))
}

function readItem($: CheerioAPI, item: Element, base: URL, depth: number): Thing {
  const types = ($(item).attr('itemtype') ?? '').split(/\s+/).filter((type) => type !== '')
  const thing: Thing = types.length === 0 ? {} : { '@type': types.length === 1 ? types[0] : types }
  if (depth > MAX_DEPTH) return thing
  const referred = ($(item).attr('itemref') ?? '').split(/\s+/).filter((id) => /^[\w-]+$/.test(id))
  const roots = [$(item), ...referred.map((id) => $(`#${id}`))]
  const properties = roots.flatMap((root) => root.find('[itemprop]').addBack('[itemprop]').toArray())
  for (const element of properties.slice(0, MAX_ITEMS)) {
    if (element === item || !belongsTo($, element, item)) continue
    const value = valueOf($, element, base, depth)
    for (const name of ($(element).attr('itemprop') ?? '').split(/\s+/).filter(Boolean)) {
      const before = thing[name]
      thing[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
    }
  }
  return thing
}

/** The property is of the nearest item around it; one that is referred to from elsewhere has none around. */
function belongsTo($: CheerioAPI, element: Element, item: Element): boolean {
  const around = $(element).parent().closest('[itemscope]')
  return around.length === 0 || around.is($(item))
}

function valueOf($: CheerioAPI, element: Element, base: URL, depth: number): unknown {
  const $element = $(element)
  if ($element.attr('itemscope') !== undefined) return readItem($, element, base, depth + 1)
  const content = $element.attr('content')
  if (content !== undefined) return content.trim()
  const tag = $element.prop('tagName')?.toLowerCase() ?? ''
  const attribute = ADDRESS_ATTRIBUTES[tag]
  const address = attribute === undefined ? undefined : $element.attr(attribute)
  if (address !== undefined)
    return /^(tel|mailto):/i.test(address) ? address : (URL.parse(address, base.href)?.href ?? address)
  if (tag === 'time') return $element.attr('datetime') ?? $element.text().trim()
  return $element.text().replace(/\s+/g, ' ').trim()
}
