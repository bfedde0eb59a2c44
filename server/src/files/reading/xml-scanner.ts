import { damaged } from './zip-archive.ts'

/** The maximum length of a token. Excel allows 32,767 characters in a cell; nothing read from a workbook needs more. */
const MAX_TOKEN = 4 * 1024 * 1024
/** The maximum length of a tag. Attributes are searched one by one; a normal tag has some hundred characters. */
const MAX_TAG = 64 * 1024

export type XmlEvents = {
  /**
   * Receives a start tag. `attributes` is the text after the name; see `readAttribute`. Names come without their prefix.
   */
  open(name: string, attributes: string): void
  close(name: string): void
  /** Receives each piece of text, with entities resolved. */
  text?(piece: string): void
}

export type XmlScanner = { push(text: string): void; end(): void }

/**
 * Reports the contents of XML as it arrives and stores nothing. It supports no document type and no custom entities, so
 * no input can expand.
 */
export function createXmlScanner(events: XmlEvents): XmlScanner {
  let pending = ''
  /**
   * Pieces that wait before a long token is scanned again. This way all scans together cost no more than reading the
   * token twice.
   */
  let awaited = ''

  /** Handles the markup at `at`. Returns its end, or -1 if it is not complete. */
  function readMarkup(at: number): number {
    const next = pending.charCodeAt(at + 1)
    if (next === 33) return readDeclaration(at)
    if (next === 63) return skipTo('?>', at)
    const end = tagEnd(pending, at)
    if ((end === -1 ? pending.length : end) - at > MAX_TAG) throw damaged('its XML has an endless tag')
    if (end === -1) return -1
    if (next === 47) {
      events.close(localName(pending.slice(at + 2, end).trimEnd()))
      return end + 1
    }
    const closed = pending.charCodeAt(end - 1) === 47
    const stop = closed ? end - 1 : end
    let nameEnd = at + 1
    while (nameEnd < stop && pending.charCodeAt(nameEnd) > 32) nameEnd += 1
    const name = localName(pending.slice(at + 1, nameEnd))
    events.open(name, pending.slice(nameEnd, stop))
    if (closed) events.close(name)
    return end + 1
  }

  function readDeclaration(at: number): number {
    if (pending.startsWith('<!--', at)) return skipTo('-->', at)
    if (pending.startsWith('<![CDATA[', at)) {
      const end = pending.indexOf(']]>', at)
      if (end === -1) return -1
      events.text?.(pending.slice(at + 9, end))
      return end + 3
    }
    if (pending.length - at < 9) return -1
    throw damaged('its XML declares a document type')
  }

  function skipTo(mark: string, at: number): number {
    const end = pending.indexOf(mark, at)
    return end === -1 ? -1 : end + mark.length
  }

  function readAwaited(): void {
    pending += awaited
    awaited = ''
    let at = 0
    while (at < pending.length) {
      const markup = pending.indexOf('<', at)
      const textEnd = markup === -1 ? safeEnd(pending, at) : markup
      if (textEnd > at) events.text?.(resolveEntities(pending.slice(at, textEnd)))
      at = textEnd
      if (markup === -1) break
      const next = pending.length - markup > 1 ? readMarkup(markup) : -1
      if (next === -1) break
      at = next
    }
    pending = pending.slice(at)
    if (pending.length > MAX_TOKEN) throw damaged('its XML has an endless tag')
  }

  return {
    push(text) {
      awaited += text
      if (awaited.length < pending.length && pending.length + awaited.length <= MAX_TOKEN) return
      readAwaited()
    },
    end() {
      readAwaited()
      if (pending.trim() !== '') throw damaged('its XML ends in the middle')
    },
  }
}

/** Returns the position of the `>` that ends a tag, ignoring any inside an attribute. */
function tagEnd(text: string, from: number): number {
  let quote = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (quote !== 0) {
      if (code === quote) quote = 0
    } else if (code === 34 || code === 39) quote = code
    else if (code === 62) return at
  }
  return -1
}

/** Returns the end of the complete text. A cut-off entity is left for the next piece. */
function safeEnd(text: string, from: number): number {
  const ampersand = text.lastIndexOf('&')
  return ampersand >= from && text.length - ampersand < 12 && !text.includes(';', ampersand)
    ? ampersand
    : text.length
}

function localName(name: string): string {
  const colon = name.indexOf(':')
  return colon === -1 ? name : name.slice(colon + 1)
}

const NAMED: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function resolveEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(#x?)?([0-9a-zA-Z]+);/g, (all, kind: string | undefined, code: string) => {
    if (kind === undefined) return NAMED[code] ?? all
    const point = Number.parseInt(code, kind === '#' ? 10 : 16)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '\uFFFD'
  })
}

/** Returns an attribute by its name without prefix. */
export function readAttribute(attributes: string, name: string): string | undefined {
  for (let at = attributes.indexOf(name); at !== -1; at = attributes.indexOf(name, at + 1)) {
    const before = attributes.charCodeAt(at - 1)
    if (at > 0 && before > 32 && before !== 58) continue
    const [, quoted] = ASSIGNED.exec(attributes.slice(at + name.length)) ?? []
    if (quoted !== undefined) return resolveEntities(quoted.slice(1, -1))
  }
  return undefined
}

const ASSIGNED = /^\s*=\s*("[^"]*"|'[^']*')/
