import { isObject } from '../../../lib/json/object.ts'
import { wholeText } from './document.ts'
import type { Elements } from './tree.ts'

/** A thing that a page describes, from JSON-LD or microdata, with the property names of schema.org. */
export type Thing = Record<string, unknown>

const MAX_BLOCKS = 50
const MAX_BLOCK = 1_000_000
const MAX_THINGS = 500
const MAX_DEPTH = 30

/** Returns every JSON-LD block of a page unchanged. Blocks that cannot be parsed are left out. */
export function readJsonLd(elements: Elements): unknown[] {
  return elements
    .named('script')
    .filter(({ attribs }) => /^application\/(\w+\+)?ld\+json\b/i.test(attribs?.['type']?.trim() ?? ''))
    .slice(0, MAX_BLOCKS)
    .map(wholeText)
    .filter((text) => text.length <= MAX_BLOCK)
    .flatMap((text) => {
      const parsed = parseLoosely(text)
      return parsed === undefined ? [] : [parsed]
    })
}

/**
 * Returns the things in JSON-LD, outer ones first. Lists, `@graph` and nested things are opened, and references by `@id`
 * are resolved.
 */
export function listThings(blocks: readonly unknown[]): Thing[] {
  const things: Thing[] = []
  let level: unknown[] = [...blocks]
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && things.length < MAX_THINGS; depth += 1) {
    const objects = level
      .flatMap((value) => (Array.isArray(value) ? value.flat(2) : [value]))
      .filter(isObject)
    things.push(...objects.filter((object) => typesOf(object).length > 0))
    level = objects.flatMap((object) => Object.values(object).filter((value) => typeof value === 'object'))
  }
  return resolveReferences(things.slice(0, MAX_THINGS))
}

function resolveReferences(things: Thing[]): Thing[] {
  const byId = new Map(
    things.flatMap((thing): [string, Thing][] =>
      typeof thing['@id'] === 'string' ? [[thing['@id'], thing]] : [],
    ),
  )
  const open = (value: unknown): unknown => {
    if (!isObject(value) || typeof value['@id'] !== 'string' || Object.keys(value).length > 1) return value
    return byId.get(value['@id']) ?? value
  }
  return things.map((thing) =>
    Object.fromEntries(
      Object.entries(thing).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.map(open) : open(value),
      ]),
    ),
  )
}

/** Returns the types of a thing, without the address of the vocabulary. */
export function typesOf(thing: Thing): string[] {
  const types = thing['@type']
  return (Array.isArray(types) ? types : [types]).flatMap((type: unknown) =>
    typeof type === 'string' ? [type.replace(/^.*[/#:]/, '')] : [],
  )
}

/** Returns the texts of a property. A list gives all its texts, an object gives its `@value`, name or address. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.slice(0, 100).flatMap(textsOf)
  if (typeof value === 'number') return [String(value)]
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (!isObject(value)) return []
  return textsOf(value['@value'] ?? value['name'] ?? value['url'] ?? value['contentUrl'] ?? value['@id'])
}

export const textOfProperty = (thing: Thing, name: string): string | null => textsOf(thing[name])[0] ?? null

/** Parses JSON as sites write it: inside a comment or CDATA, with line breaks in strings, with a comma too many. */
function parseLoosely(text: string): unknown {
  const bare = text
    .trim()
    .replace(/^(<!--|<!\[CDATA\[|\/\*\s*<!\[CDATA\[\s*\*\/|\/\/\s*<!\[CDATA\[)/, '')
    .replace(/(-->|\]\]>|\/\*\s*\]\]>\s*\*\/|\/\/\s*\]\]>)$/, '')
    .trim()
    .replace(/;$/, '')
  const first = tryParse(bare)
  if (first !== undefined) return first
  return tryParse(bare.replace(/\p{Cc}+/gu, ' ').replace(/,(\s*[}\]])/g, '$1'))
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isShallow(value) ? value : undefined
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}

/** Returns true if a value is shallow enough to be walked later without a stack overflow. */
function isShallow(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return false
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return true
}
