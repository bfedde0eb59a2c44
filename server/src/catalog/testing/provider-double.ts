import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { createKey, type ProviderGate, type ProviderKeys } from '../provider/access.ts'
import type { AskContext } from '../provider/context.ts'

/** A request as a provider receives it. */
export type Seen = {
  method: string
  path: string
  query: Record<string, string>
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** A reply: JSON with 200 by default. Text is sent unchanged; `hang` never replies. */
export type Reply = {
  status?: number
  json?: unknown
  text?: string
  bytes?: Uint8Array
  headers?: Record<string, string>
  hang?: true
}

export type Double = { origin: string; seen: Seen[] }

/** Serves a provider on loopback over real HTTP, until the test ends. */
export async function serveDouble(answer: (seen: Seen, place: number) => Reply): Promise<Double> {
  const seen: Seen[] = []
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const url = new URL(request.url ?? '', 'http://double')
    const { method = '', headers } = request
    const query = Object.fromEntries(url.searchParams)
    const one = { method, path: url.pathname, query, headers, body }
    const reply = answer(one, seen.push(one) - 1)
    if (reply.hang) return
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.bytes ?? reply.text ?? JSON.stringify(reply.json ?? {}))
  }
  const { origin } = await serveHttp((request, response) => void serve(request, response))
  return { origin, seen }
}

export const OPEN_GATE: ProviderGate = { enter: async () => ({ kind: 'entered', leave: () => undefined }) }

export const keysOf = (fields: Record<string, string>): ProviderKeys => ({
  platform: () => createKey('platform', fields),
  own: async () => createKey('own', fields),
})

/** Returns the context of adapters, with providers at `urls`. Calls time out after `timeoutMs`. */
export function makeAskContext(
  urls: Record<string, string>,
  more: Partial<AskContext> & { timeoutMs?: number } = {},
): AskContext {
  const baseUrls = new Map(Object.entries(urls))
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, baseUrls })
  onTestFinished(() => egress.close())
  const { timeoutMs = 5000, ...rest } = more
  return {
    egress: { ...egress, fetch: (request) => egress.fetch({ ...request, timeoutMs }) },
    signal: new AbortController().signal,
    now: () => new Date(),
    keys: keysOf({ secret: 'a-key' }),
    gate: OPEN_GATE,
    reserve: async () => true,
    ...rest,
  }
}
