/** Matches elements without content, and elements that end by themselves when the next one starts. */
const UNNESTED: ReadonlySet<string> = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr p li dd dt td th tr tbody thead tfoot colgroup ' +
    'option optgroup a html head body rp rt'
  ).split(' '),
)
const RAW: ReadonlySet<string> = new Set(
  'script style textarea title noscript xmp iframe noembed noframes'.split(' '),
)
const MAX_TAG = 20_000
const TAG = /<(?:!--|(\/?)([a-z][a-z0-9:-]*))/gi

/**
 * Returns the greatest possible nesting of the elements in a text, in one pass. At many tags a parser searches all open
 * elements, so a page that opens elements without end must be refused before it is parsed.
 */
export function nestingOf(text: string, kind: 'html' | 'xml'): number {
  const lower = text.toLowerCase()
  let open = 0
  let deepest = 0
  let isDrawing = false
  TAG.lastIndex = 0
  for (let tag = TAG.exec(lower); tag !== null; tag = TAG.exec(lower)) {
    const [, slash, name] = tag
    if (name === undefined) {
      TAG.lastIndex = skipPast(lower, '-->', TAG.lastIndex)
      continue
    }
    const end = skipPast(lower, '>', TAG.lastIndex)
    // An XML parser takes as long for endless attributes as for endless elements.
    if (kind === 'xml' && end - TAG.lastIndex > MAX_TAG) return Number.POSITIVE_INFINITY
    TAG.lastIndex = end
    if (kind === 'html' && UNNESTED.has(name)) continue
    if (slash === '/') {
      if (name === 'svg') isDrawing = false
      open = Math.max(0, open - 1)
      continue
    }
    if (kind === 'html' && RAW.has(name)) {
      TAG.lastIndex = skipPast(lower, `</${name}`, end)
      continue
    }
    // A slash at the end of a tag closes the element only in XML and in drawings.
    if (lower[end - 2] === '/' && (kind === 'xml' || isDrawing)) continue
    if (name === 'svg') isDrawing = true
    else if (name === 'foreignobject' || name === 'div') isDrawing = false
    open += 1
    deepest = Math.max(deepest, open)
  }
  return deepest
}

/**
 * Returns the number of elements that a text opens. A parser takes some microseconds for each, and it blocks the thread
 * meanwhile.
 */
export function countElements(text: string): number {
  let count = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (/[a-z]/i.test(text[at + 1] ?? '')) count += 1
  }
  return count
}

/** Removes these elements and their content from a well-formed text, in one pass. */
export function withoutElements(html: string, names: readonly string[]): string {
  const lower = html.toLowerCase()
  const opening = new RegExp(`<(${names.join('|')})[\\s>/]`, 'g')
  const kept: string[] = []
  let from = 0
  for (let tag = opening.exec(lower); tag !== null; tag = opening.exec(lower)) {
    kept.push(html.slice(from, tag.index))
    from = skipPast(lower, `</${tag[1]}>`, tag.index)
    opening.lastIndex = from
  }
  return [...kept, html.slice(from)].join('')
}

function skipPast(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  return at < 0 ? text.length : at + end.length
}
