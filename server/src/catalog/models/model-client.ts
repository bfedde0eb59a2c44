import type { wrapLanguageModel } from 'ai'
import { LRUCache } from 'lru-cache'
import type { Egress } from '../../lib/egress/egress.ts'
import { createModelFetch } from './model-fetch.ts'

/** A client of one model, below what the library adds for conversations with tools. */
export type ModelClient = ReturnType<typeof wrapLanguageModel>

/** How a model is called: over whose API, where, with which key. */
export type ModelAddress = {
  api: 'openai_compatible' | 'anthropic'
  /** The name that the server knows it by. */
  id: string
  baseUrl: string
  apiKey: string | undefined
  egress: Egress
  timeoutMs: number
}

const MAX_CLIENTS = 1000

/** The client for one model. The libraries are only loaded where models are used. */
async function createModelClient(address: ModelAddress): Promise<ModelClient> {
  const { id, baseUrl, apiKey } = address
  const fetch = createModelFetch(address.egress, address.timeoutMs, apiKey)
  if (address.api === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    // Without a key of ours the library would take one from the environment.
    return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch })(id)
  }
  const [{ createOpenAICompatible }, { extractReasoningMiddleware, wrapLanguageModel: wrap }] =
    await Promise.all([import('@ai-sdk/openai-compatible'), import('ai')])
  const provider = createOpenAICompatible({
    name: 'models',
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  // Servers differ in whether they tell a model's thoughts from its answer.
  const middleware = extractReasoningMiddleware({ tagName: 'think' })
  return wrap({ model: provider(id), middleware })
}

/** For each address one client, since making one takes longer than a call does. */
export function createModelClients(): (address: ModelAddress) => Promise<ModelClient> {
  const clients = new WeakMap<Egress, LRUCache<string, Promise<ModelClient>>>()
  return (address) => {
    const { api, id, baseUrl, apiKey, egress, timeoutMs } = address
    const known = clients.get(egress) ?? new LRUCache({ max: MAX_CLIENTS })
    clients.set(egress, known)
    const key = JSON.stringify([api, id, baseUrl, apiKey, timeoutMs])
    const client = known.get(key) ?? createModelClient(address)
    known.set(key, client)
    return client
  }
}
