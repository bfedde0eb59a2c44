import type { LanguageModelMiddleware, wrapLanguageModel } from 'ai'
import { LRUCache } from 'lru-cache'
import type { Egress } from '../../lib/egress/egress.ts'
import { createModelFetch } from './model-fetch.ts'
import type { ModelParameters } from './parameters.ts'
import { withoutThoughts } from './thoughts.ts'

/** A client of one model, without the library's layer for conversations with tools. */
export type ModelClient = ReturnType<typeof wrapLanguageModel>

/** The API, server and key by which a model is called. */
export type ModelAddress = {
  api: 'openai_compatible' | 'anthropic'
  /** The name of the model on the server. */
  id: string
  baseUrl: string
  apiKey: string | undefined
  egress: Egress
  timeoutMs: number
  parameters: ModelParameters
}

const MAX_CLIENTS = 1000

/** Removes a model's thoughts from its answers. The library's middleware for this takes quadratic time. */
const THOUGHTLESS: LanguageModelMiddleware = {
  specificationVersion: 'v4',
  async wrapGenerate({ doGenerate }) {
    const { content, ...result } = await doGenerate()
    const answer = content.map((part) =>
      part.type === 'text' ? { ...part, text: withoutThoughts(part.text) } : part,
    )
    return { ...result, content: answer }
  },
}

/** Creates the client for one model. The libraries are only loaded when a model is used. */
async function createModelClient(address: ModelAddress): Promise<ModelClient> {
  const { id, baseUrl, apiKey } = address
  const fetch = createModelFetch(address, address.timeoutMs, apiKey)
  if (address.api === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    // Without an explicit key, the library would take one from the environment.
    return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch })(id)
  }
  const [{ createOpenAICompatible }, { wrapLanguageModel: wrap }] = await Promise.all([
    import('@ai-sdk/openai-compatible'),
    import('ai'),
  ])
  const provider = createOpenAICompatible({
    name: 'models',
    baseURL: baseUrl,
    supportsStructuredOutputs: true,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  return wrap({ model: provider(id), middleware: THOUGHTLESS })
}

/** Returns a function that keeps one client for each address, because creating a client takes longer than a call. */
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
