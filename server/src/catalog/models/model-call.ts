import type { TokenUsage } from '../outcome.ts'
import type { ProviderContext } from '../provider/context.ts'
import type { AnswerSchema } from './answer-schema.ts'
import type { ModelClient } from './model-client.ts'
import { clean, readFailure } from './model-failures.ts'
import { hiddenIn, type ModelQuestion, type ModelReply } from './model-question.ts'

/** Anthropic keeps what stands before such a mark; other servers find a common beginning by themselves. */
const KEPT = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const
/** Anthropic wants a limit with every call, and the library's own is the most that a model can do. */
const ANTHROPIC_OUTPUT_TOKENS = 8192
/** Statuses by which servers refuse a response_format that they do not know. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 422, 501])

type Generated = Awaited<ReturnType<ModelClient['doGenerate']>>
/** A part of the conversation in the library's words. */
export type ChatMessage = Parameters<ModelClient['doGenerate']>[0]['prompt'][number]

export const sayAs = (role: 'user' | 'assistant', text: string): ChatMessage => ({
  role,
  content: [{ type: 'text', text }],
})

type ToldSchema = Pick<AnswerSchema, 'told' | 'strict'>

/**
 * One reply of a model, straight from its client: what the library does for conversations with tools takes longer than the call.
 * The schema stands in the instructions in any case; where the server takes it as response_format too, it holds the model to it.
 */
export async function callModel(
  question: ModelQuestion,
  exchange: readonly ChatMessage[],
  schema: ToldSchema | undefined,
  context: Pick<ProviderContext, 'signal' | 'now'>,
): Promise<ModelReply> {
  const { refused } = question.model
  if (schema === undefined || schema.told['type'] !== 'object' || refused.has(schema.told))
    return exchangeOnce(question, exchange, undefined, context)
  const reply = await exchangeOnce(question, exchange, schema, context)
  if (reply.ok || !REFUSALS.has(reply.failure.status)) return reply
  const plain = await exchangeOnce(question, exchange, undefined, context)
  if (plain.ok) refused.add(schema.told)
  return plain
}

async function exchangeOnce(
  question: ModelQuestion,
  exchange: readonly ChatMessage[],
  schema: ToldSchema | undefined,
  { signal, now }: Pick<ProviderContext, 'signal' | 'now'>,
): Promise<ModelReply> {
  const { model, temperature } = question
  const maxOutputTokens =
    question.maxOutputTokens ?? (model.api === 'anthropic' ? ANTHROPIC_OUTPUT_TOKENS : undefined)
  const started = performance.now()
  try {
    const client = await model.connect()
    const { content, finishReason, usage } = await client.doGenerate({
      abortSignal: signal,
      prompt: [
        { role: 'system', content: question.instructions, providerOptions: KEPT },
        userMessage(question),
        ...exchange,
      ],
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(schema === undefined ? {} : formatOf(schema)),
    })
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    const entry = (status: string) => ({
      provider: model.name,
      status,
      ms: Math.round(performance.now() - started),
      credits: 0,
      ...usageOf(usage),
    })
    const ended = describeEnd(finishReason.unified, clean(text, hiddenIn(question)))
    if (ended === null) return { ok: true, text, entry }
    const outcome = { kind: 'failed' as const, message: ended, provenance: [entry('error')] }
    return { ok: false, failure: { outcome, broken: false } }
  } catch (cause) {
    return { ok: false, failure: readFailure(cause, { model, hidden: hiddenIn(question), now: now() }) }
  }
}

function formatOf({ told, strict }: ToldSchema) {
  return {
    responseFormat: { type: 'json' as const, schema: told, name: 'answer' },
    providerOptions: { models: { strictJsonSchema: strict } },
  }
}

/** Row data stands last, behind what is the same for every row. */
function userMessage({ model, task, data }: ModelQuestion): ChatMessage {
  if (data === '') return sayAs('user', task)
  // Not every OpenAI-compatible server takes a message in parts.
  if (model.api !== 'anthropic') return sayAs('user', `${task}\n\n${data}`)
  return {
    role: 'user',
    content: [
      { type: 'text', text: task, providerOptions: KEPT },
      { type: 'text', text: data },
    ],
  }
}

function describeEnd(reason: string, said: string): string | null {
  if (reason === 'length')
    return `the answer was cut off at the limit of output tokens; ask for less, or raise max_output_tokens. The model said: ${said}`
  if (reason === 'content-filter')
    return `the model or its content filter declined to answer${said === '' ? '' : `. The model said: ${said}`}`
  return null
}

function usageOf({ inputTokens, outputTokens }: Generated['usage']): { usage?: TokenUsage } {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return {}
  const cached = inputTokens.cacheRead ?? 0
  return {
    usage: {
      input_tokens: inputTokens.total ?? 0,
      output_tokens: outputTokens.total ?? 0,
      ...(cached === 0 ? {} : { cached_input_tokens: cached }),
    },
  }
}
