import { z } from 'zod'
import { isObject } from '../../lib/json/object.ts'
import type { AgentField } from './task.ts'

const Finding = z.object({
  value: z.unknown(),
  sources: z.array(z.object({ page: z.number(), quote: z.string() })),
  reason: z.string().nullable(),
})
/** The findings of a model, by field. */
export const Findings = z.record(z.string(), Finding)
export type Findings = z.output<typeof Findings>

/** The number of a page that was not read. Such a page supports no value. */
const NO_PAGE = 0

/**
 * Reads the answer of a model as findings (D97). null means "not found". A plain value has no source, so it becomes null.
 * A page may be named by a text or by its address. Unknown keys are ignored. Parts that fit no reading stay as they are,
 * so that the check fails and the model is asked again.
 */
export function readFindings(
  answer: unknown,
  fields: readonly AgentField[],
  urls: readonly string[],
): unknown {
  if (answer !== null && !isObject(answer)) return answer
  const given = answer ?? Object.fromEntries(fields.map(({ name }) => [name, null]))
  const found = fields.filter(({ name }) => Object.hasOwn(given, name))
  return Object.fromEntries(found.map(({ name }) => [name, readFinding(given[name], urls)]))
}

function readFinding(given: unknown, urls: readonly string[]): unknown {
  const isFinding = isObject(given) && PARTS.some((part) => Object.hasOwn(given, part))
  const { value, reason, ...more } = isFinding ? given : {}
  const sources = listOf(more['sources']).map((source) => readSource(source, urls))
  return {
    // A value without a source is not answered, so its type must not fail the run.
    value: sources.length === 0 ? null : (value ?? null),
    sources,
    reason: typeof reason === 'string' ? reason : null,
  }
}

const PARTS = ['value', 'sources', 'reason']

const listOf = (given: unknown): unknown[] => {
  if (given === null || given === undefined) return []
  return Array.isArray(given) ? given : [given]
}

function readSource(given: unknown, urls: readonly string[]): unknown {
  if (!isObject(given)) return given
  return { page: readPage(given['page'], urls), quote: given['quote'] }
}

/**
 * Reads the number of a page, given as a number, as `"2"`, `"[2]"` or `[2]`, or as the page's address. Returns anything
 * else unchanged.
 */
function readPage(given: unknown, urls: readonly string[]): unknown {
  const page = Array.isArray(given) && given.length === 1 ? (given[0] as unknown) : given
  if (typeof page !== 'string') return page
  const [, digits] = /^\[?\s*(\d{1,6})\s*\]?$/.exec(page.trim()) ?? []
  if (digits !== undefined) return Number(digits)
  const address = plainAddress(page)
  return address === null ? page : 1 + urls.findIndex((url) => plainAddress(url) === address) || NO_PAGE
}

/** Returns an address without the parts that do not change the page: the scheme, a slash at the end, the fragment. */
function plainAddress(text: string): string | null {
  const url = URL.parse(text.trim())
  if (url === null || !/^https?:$/.test(url.protocol)) return null
  return `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}`
}
