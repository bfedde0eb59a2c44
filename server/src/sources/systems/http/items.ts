import { z } from 'zod'
import { hideSecrets } from '../../../catalog/http/secrets.ts'
import { parseReply, refusal, refusalOfFailure } from '../../../catalog/provider/reply.ts'
import { http } from '../../../catalog/providers/http/provider.ts'
import { NumberText } from '../../../lib/json/lossless-json.ts'
import { isObject } from '../../../lib/json/object.ts'
import { pause } from '../../../lib/timing/turns.ts'
import { definePull, type Keyed } from '../../pull.ts'
import { contentKey, keyText } from '../../rows.ts'
import { defineShape } from '../../shape.ts'
import { askFor, Paging, Path, Place, placeAfter, valueAt } from './paging.ts'
import { Address, fillIn, Headers, Parameters, variablesIn, withoutSecrets } from './template.ts'

export const items = defineShape({
  body: {
    url: Address.describe('The URL of the first page'),
    method: z.enum(['GET', 'POST']).describe('Default GET').default('GET'),
    headers: Headers,
    query: Parameters,
    json: z
      .record(z.string(), z.unknown())
      .describe('The JSON body of a POST; paging parameters are added to it')
      .optional(),
    items_path: Path.describe(
      'The path of the list in a response, such as data.items; leave it out if the response is the list',
    ).optional(),
    key_path: Path.describe(
      'The path of the unique id of an item, such as id; without it all values of an item identify it',
    ).optional(),
    total_path: Path.describe('The path of the total number of items in a response').optional(),
    pagination: Paging.default({ type: 'none' }),
  },
  row: z.record(z.string(), z.unknown()),
})

const TIMEOUT_MS = 60_000
const RULES = {
  statuses: { 400: 'ineligible', 404: 'ineligible', 405: 'ineligible', 422: 'ineligible' },
} as const

export const pagedItems = definePull(items, http, {
  price: 0,
  state: Place,
  async pull({ body, state, context, env }) {
    const here = state ?? {}
    const variables = await env()
    const headers = fillIn(body.headers, variables)
    const query = fillIn(body.query, variables)
    if (!headers.ok) return headers.refusal
    if (!query.ok) return query.refusal
    const used = variablesIn([body.headers, body.query], variables)
    const page = askFor(body.pagination, here)
    const stored = fillIn(
      { url: here.url ?? '' },
      new Map(used.map(([key, value]) => [key, encodeURIComponent(value)])),
    )
    if (!stored.ok) return stored.refusal
    const first = addTo(body.url, { ...query.texts, ...(body.method === 'GET' ? page : {}) })
    const url = here.url === undefined ? first : (stored.texts['url'] ?? '')
    // Headers may hold credentials, so they are only sent to the origin that they were given for.
    if (!isSameOrigin(url, body.url))
      return refusal('ineligible', 'the next page is on another server than the first page')
    const request = {
      url,
      method: body.method,
      headers: {
        accept: 'application/json',
        ...(body.method === 'POST' ? { 'content-type': 'application/json' } : {}),
        ...lowerCase(headers.texts),
      },
      ...(body.method === 'POST' ? { body: JSON.stringify({ ...body.json, ...numbersIn(page) }) } : {}),
      timeoutMs: TIMEOUT_MS,
      signal: context.signal,
    }
    const secrets = used.map(([, value]) => value)
    const reply = await context.egress.fetch(request)
    if (!reply.ok) return refusalOfFailure(reply)
    const json = await reply.exactJson()
    const answer = parseReply(reply, z.unknown(), {
      rules: RULES,
      secrets: () => secrets,
      now: () => context.now(),
      json,
    })
    if (!answer.ok) return answer.refusal
    const found = body.items_path === undefined ? answer.body : valueAt(answer.body, body.items_path)
    if (!Array.isArray(found)) return refusal('ineligible', describeMissingList(answer.body, body.items_path))
    const hide = hideSecrets(request, secrets)
    const records: Keyed<Record<string, unknown>>[] = []
    for (const item of found as unknown[]) {
      await pause()
      const row = await hide.inContent(isObject(item) ? item : { value: item })
      const key = body.key_path === undefined ? undefined : valueAt(item, body.key_path)
      records.push({
        key: key === undefined || key === null ? contentKey(row) : hide.inWords(keyText(key)),
        row,
      })
    }
    const next = placeAfter(body.pagination, here, {
      count: found.length,
      body: answer.body,
      link: reply.header('link'),
    })
    // Some servers ignore page numbers and return the same items for each.
    const before = contentKey({ keys: records.map(({ key }) => key) })
    const isSame = next?.number !== undefined && before === here.before
    const rawTotal = body.total_path === undefined ? undefined : valueAt(answer.body, body.total_path)
    const total = rawTotal instanceof NumberText ? Number(rawTotal.source) : rawTotal
    return {
      records,
      next: next === null || isSame ? null : toStored(next, url, { used, before }),
      ...(typeof total === 'number' ? { total } : {}),
    }
  },
})

/** Returns the stored form of the next position, with a complete URL that holds no secrets. */
function toStored(
  next: Place,
  here: string,
  { used, before }: { used: [string, string][]; before: string },
): Place {
  if (next.number !== undefined) return { ...next, before }
  const url = next.url === undefined ? null : URL.parse(next.url, here)
  return url === null ? next : { url: withoutSecrets(url.href, used) }
}

function addTo(address: string, parameters: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

const isSameOrigin = (a: string, b: string) => URL.parse(a)?.origin === URL.parse(b)?.origin

const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Converts page numbers into numbers for a JSON body. */
const numbersIn = (page: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(page).map(([name, value]) => [name, /^\d{1,15}$/.test(value) ? Number(value) : value]),
  )

function describeMissingList(body: unknown, path: string | undefined): string {
  const lists = isObject(body)
    ? Object.entries(body).flatMap(([name, value]) => (Array.isArray(value) ? [name] : []))
    : []
  const hint = lists.length === 0 ? '' : `; there are lists at: ${lists.slice(0, 20).join(', ')}`
  return path === undefined
    ? `the response is not a list; set items_path${hint}`
    : `there is no list at ${path}${hint}`
}
