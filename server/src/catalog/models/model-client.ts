import type { LanguageModel } from 'ai'
import type { Egress } from '../../lib/egress/egress.ts'
import { createModelFetch } from './model-fetch.ts'

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

/** The client for one model. The libraries are only loaded where models are used. */
export async function createModelClient(address: ModelAddress): Promise<LanguageModel> {
  const { id, baseUrl, apiKey } = address
  const fetch = createModelFetch(address.egress, address.timeoutMs)
  if (address.api === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    // Without a key of ours the library would take one from the environment.
    return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch })(id)
  }
  const [{ createOpenAICompatible }, { extractReasoningMiddleware, wrapLanguageModel }] = await Promise.all([
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
  // Servers differ in whether they tell a model's thoughts from its answer.
  const middleware = extractReasoningMiddleware({ tagName: 'think' })
  return wrapLanguageModel({ model: provider(id), middleware })
}
