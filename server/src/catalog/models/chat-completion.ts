import { z } from 'zod'
import type { EgressResponse } from '../../lib/egress/response.ts'
import { cutCredentials, toCredentials } from '../http/secrets.ts'
import type { ModelAddress } from './model-client.ts'
import { fetchModel, MAX_BYTES, ModelUnreached } from './model-fetch.ts'
import { withoutThoughts } from './thoughts.ts'

export type CompletionMessage = { role: 'system' | 'user' | 'assistant'; content: string }

export type CompletionRequest = {
  messages: CompletionMessage[]
  temperature?: number | undefined
  maxOutputTokens?: number | undefined
  /** The schema that the server must enforce on the answer. */
  format?: { schema: object; strict: boolean } | undefined
}

/** A completion. `end` uses the client library's words. */
export type Completion = {
  text: string
  end: 'stop' | 'length' | 'content-filter' | 'other'
  usage: { input?: number | undefined; output?: number | undefined; cachedInput?: number | undefined }
}

/** The length of the text in which an error message is searched. A longer text is no message for people. */
export const LONGEST_ERROR = 64 * 1024

/** Thrown if a server's reply is not a completion. */
export class ModelRefused extends Error {
  override name = 'ModelRefused'
  readonly statusCode: number
  readonly responseHeaders: Record<string, string>
  readonly responseBody: string

  constructor(reply: Pick<EgressResponse, 'status' | 'headers' | 'excerpt'>) {
    super('the server gave no completion')
    this.statusCode = reply.status
    this.responseHeaders = Object.fromEntries(
      Object.entries(reply.headers).map(([name, values]) => [name, values.join(', ')]),
    )
    this.responseBody = reply.excerpt(LONGEST_ERROR)
  }
}

const Part = z.looseObject({ type: z.string().nullish(), text: z.unknown().optional() })
const Reply = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(Part)]).nullish(),
          refusal: z.unknown().optional(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: z.number().nullish(),
      completion_tokens: z.number().nullish(),
      prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
})
type Choice = z.infer<typeof Reply>['choices'][number]

/**
 * Requests one completion from an OpenAI-compatible server, with the guarded client alone. The client library sends the
 * same request, but it takes several times as long as the call itself.
 */
export async function completeChat(
  address: ModelAddress,
  { messages, temperature, maxOutputTokens, format }: CompletionRequest,
  signal: AbortSignal,
): Promise<Completion> {
  const { id, baseUrl, apiKey, timeoutMs } = address
  const request = {
    url: `${baseUrl.replace(/\/$/, '')}/chat/completions`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    timeoutMs,
    maxBytes: MAX_BYTES,
    // A redirect is not followed: it could send the credentials to another server.
    redirects: 'return' as const,
    signal,
  }
  const answer = await fetchModel(address, request, {
    model: id,
    max_tokens: maxOutputTokens,
    temperature,
    response_format:
      format === undefined ? undefined : { type: 'json_schema', json_schema: { ...format, name: 'answer' } },
    messages,
  })
  if (!answer.ok) throw new ModelUnreached(answer)
  const reply = await cutCredentials(answer, apiKey === undefined ? [] : toCredentials([apiKey]))
  if (reply.status < 200 || reply.status > 299) throw new ModelRefused(reply)
  const json = await reply.json()
  const read = json.ok ? Reply.safeParse(json.value) : undefined
  const choice = read?.data?.choices[0]
  if (choice === undefined) throw new ModelRefused(reply)
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = read?.data?.usage ?? {}
  const refusal = typeof choice.message.refusal === 'string' ? choice.message.refusal : ''
  return {
    text: textsOf(choice).map(withoutThoughts).join('') + refusal,
    end: endOf(choice.finish_reason, refusal !== ''),
    usage: {
      input: prompt_tokens ?? undefined,
      output: completion_tokens ?? undefined,
      cachedInput: prompt_tokens_details?.cached_tokens ?? undefined,
    },
  }
}

function textsOf({ message: { content } }: Choice): string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  )
}

function endOf(reason: string | null | undefined, refuses: boolean): Completion['end'] {
  if (reason === 'length') return 'length'
  if (reason === 'content_filter' || (reason === 'stop' && refuses)) return 'content-filter'
  return reason === 'stop' ? 'stop' : 'other'
}
