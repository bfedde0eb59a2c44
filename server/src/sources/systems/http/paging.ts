import { z } from 'zod'
import { NumberText } from '../../../lib/json/lossless-json.ts'
import { isObject } from '../../../lib/json/object.ts'

const Parameter = z.string().min(1).max(200)
export const Path = z
  .string()
  .trim()
  .max(500)
  .regex(/^[^.]+(\.[^.]+)*$/, 'must be names separated by dots, such as data.items')

/** The ways to request the next page. */
export const Paging = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('none') }),
      z.strictObject({
        type: z.literal('page'),
        parameter: Parameter.default('page'),
        first: z.int().min(0).max(1_000_000).default(1),
        size_parameter: Parameter.optional(),
        size: z.int().min(1).max(10_000).optional(),
      }),
      z.strictObject({
        type: z.literal('offset'),
        parameter: Parameter.default('offset'),
        size_parameter: Parameter.default('limit'),
        size: z.int().min(1).max(10_000).default(100),
      }),
      z.strictObject({ type: z.literal('cursor'), parameter: Parameter.default('cursor'), path: Path }),
      z.strictObject({ type: z.literal('link') }),
      z.strictObject({ type: z.literal('next_url'), path: Path }),
    ],
    'must have a type: none, page, offset, cursor, link or next_url',
  )
  .describe(
    'How the next page is requested: {type: page}, {type: offset}, {type: cursor, path}, {type: link} for the Link header, {type: next_url, path}',
  )
export type Paging = z.infer<typeof Paging>

/** The position of a page. `before` is a hash of the previous page's keys: an equal page ends the pull. */
export const Place = z.object({
  number: z.int().nonnegative().optional(),
  cursor: z.string().optional(),
  url: z.string().optional(),
  before: z.string().optional(),
})
export type Place = z.infer<typeof Place>

/** Returns the parameters that request the page at a position. */
export function askFor(paging: Paging, { number, cursor }: Place): Record<string, string> {
  switch (paging.type) {
    case 'page':
      return {
        [paging.parameter]: String(number ?? paging.first),
        ...(paging.size === undefined ? {} : { [paging.size_parameter ?? 'per_page']: String(paging.size) }),
      }
    case 'offset':
      return { [paging.parameter]: String(number ?? 0), [paging.size_parameter]: String(paging.size) }
    case 'cursor':
      return cursor === undefined ? {} : { [paging.parameter]: cursor }
    case 'none':
    case 'link':
    case 'next_url':
      return {}
  }
}

type Page = { count: number; body: unknown; link: string | undefined }

/** Returns the position of the next page, or null after the last. */
export function placeAfter(paging: Paging, here: Place, { count, body, link }: Page): Place | null {
  switch (paging.type) {
    case 'none':
      return null
    case 'page':
      return count === 0 || (paging.size !== undefined && count < paging.size)
        ? null
        : { number: (here.number ?? paging.first) + 1 }
    case 'offset':
      return count === 0 || count < paging.size ? null : { number: (here.number ?? 0) + count }
    case 'cursor':
      return placeAt('cursor', valueAt(body, paging.path))
    case 'link':
      return placeAt('url', nextLink(link))
    case 'next_url':
      return placeAt('url', valueAt(body, paging.path))
  }
}

function placeAt(name: 'cursor' | 'url', value: unknown): Place | null {
  if (value instanceof NumberText) return { [name]: value.source }
  if (typeof value === 'number') return { [name]: String(value) }
  return typeof value === 'string' && value !== '' ? { [name]: value } : null
}

/** Matches a URL in angle brackets with its parameters, whose values may be quoted. */
const LINK = /<([^<>]*)>((?:\s*;[^,;"]*(?:"[^"]*")?)*)/g

/**
 * Returns the next page of a Link header (RFC 8288): `<https://api.example/items?page=2>; rel="next", <...>;
 * rel="last"`.
 */
function nextLink(header: string | undefined): string | null {
  for (const [, address = '', parameters = ''] of (header ?? '').matchAll(LINK)) {
    if (/;\s*rel\s*=\s*(?:"[^"]*\bnext\b[^"]*"|next\b)/i.test(parameters)) return address
  }
  return null
}

/** Returns the value at a path such as `data.items` or `0.id`, or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => {
    if (Array.isArray(at)) return /^\d+$/.test(name) ? (at[Number(name)] as unknown) : undefined
    return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }, value)
}
