import type { EgressRequest } from '../../lib/egress/request.ts'
import { textOf } from '../chain/references.ts'
import type { Pair } from '../fields/fields.ts'
import { readJson } from '../values/json-text.ts'

type Given = {
  method: string
  endpoint: string
  query_params: Pair[]
  headers: Pair[]
  body: Pair[]
  raw_body: string | undefined
}

/** The request that the inputs of an HTTP action describe. What cannot be sent is for egress to refuse. */
export function buildRequest(given: Given): EgressRequest {
  const content = buildBody(given)
  const headers = Object.fromEntries(named(given.headers).map(({ name, value }) => [name, textOf(value)]))
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    url: withQuery(given.endpoint.trim(), named(given.query_params)),
    method: given.method,
    headers: content === null || typed ? headers : { ...headers, 'content-type': content.type },
    ...(content === null ? {} : { body: content.body }),
  }
}

/** Pairs without a name are rows of a form that nobody filled in. */
function named(pairs: Pair[]): { name: string; value: unknown }[] {
  if (pairs.length === 0) return []
  return pairs
    .map(({ name, value }) => ({ name: textOf(name).trim(), value: value as unknown }))
    .filter(({ name }) => name !== '')
}

function buildBody(given: Given): { type: string; body: string } | null {
  if (given.raw_body !== undefined) {
    const type = readJson(given.raw_body).ok ? 'application/json' : 'text/plain; charset=utf-8'
    return { type, body: given.raw_body }
  }
  const entries = named(given.body).map(({ name, value }) => [name, value ?? null])
  if (entries.length === 0) return null
  return { type: 'application/json', body: JSON.stringify(Object.fromEntries(entries)) }
}

/** Added behind what the address has already, which stays as it was written. */
function withQuery(address: string, pairs: { name: string; value: unknown }[]): string {
  const url = pairs.length === 0 ? null : URL.parse(address)
  if (url === null) return address
  const added = new URLSearchParams(
    pairs.map(({ name, value }): [string, string] => [name, textOf(value)]),
  ).toString()
  url.search = url.search === '' ? added : `${url.search}&${added}`
  return url.href
}
