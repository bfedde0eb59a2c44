import type { EgressRequest } from '../../lib/egress/request.ts'
import { textOf } from '../chain/references.ts'
import type { Pair } from '../fields/fields.ts'
import { isJson } from '../values/json-text.ts'

type Given = {
  method: string
  endpoint: string
  query_params: Pair[]
  headers: Pair[]
  body: Pair[]
  raw_body: string | undefined
}

/** Builds the request that the inputs of an HTTP action describe. Egress refuses requests that cannot be sent. */
export function buildRequest(given: Given): EgressRequest {
  const content = buildBody(given)
  const headers = Object.fromEntries(withNames(given.headers).map(({ name, value }) => [name, textOf(value)]))
  const hasContentType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    url: withQuery(given.endpoint.trim(), withNames(given.query_params)),
    method: given.method,
    headers: content === null || hasContentType ? headers : { ...headers, 'content-type': content.type },
    ...(content === null ? {} : { body: content.body }),
  }
}

/** Returns the pairs that have a name. A pair without a name is an empty row of the form. */
function withNames(pairs: Pair[]): { name: string; value: unknown }[] {
  if (pairs.length === 0) return []
  return pairs
    .map(({ name, value }) => ({ name: textOf(name).trim(), value: value as unknown }))
    .filter(({ name }) => name !== '')
}

function buildBody(given: Given): { type: string; body: string } | null {
  if (given.raw_body !== undefined) {
    const type = isJson(given.raw_body) ? 'application/json' : 'text/plain; charset=utf-8'
    return { type, body: given.raw_body }
  }
  const entries = withNames(given.body).map(({ name, value }) => [name, value ?? null])
  if (entries.length === 0) return null
  return { type: 'application/json', body: JSON.stringify(Object.fromEntries(entries)) }
}

/** Adds the pairs after the query that the address already has. That query stays as it was written. */
function withQuery(address: string, pairs: { name: string; value: unknown }[]): string {
  const url = pairs.length === 0 ? null : URL.parse(address)
  if (url === null) return address
  const added = new URLSearchParams(
    pairs.map(({ name, value }): [string, string] => [name, textOf(value)]),
  ).toString()
  url.search = url.search === '' ? added : `${url.search}&${added}`
  return url.href
}
