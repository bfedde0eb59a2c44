import type { TokenUsage } from '../outcome.ts'
import type { ProviderContext } from '../provider/context.ts'
import type { AnswerSchema } from './answer-schema.ts'
import { completeChat, type Completion } from './chat-completion.ts'
import type { ModelClient } from './model-client.ts'
import { clean, readFailure } from './model-failures.ts'
import { hiddenIn, type ModelQuestion, type ModelReply } from './model-question.ts'

/** Marks the end of a prefix that Anthropic caches. Other servers detect a common prefix themselves. */
const KEPT = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const
/**
 * The default limit of output tokens for Anthropic, which requires one in every call. The library's default is the
 * maximum of the model.
 */
const ANTHROPIC_OUTPUT_TOKENS = 8192
/** The statuses with which servers refuse a response_format that they do not support. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 422, 501])
/** Stands among the refused schemas for all of them. */
const ANY_SCHEMA = { type: 'any schema' }
const REFUSES_ANY = /(?:response_format|json_schema).*(?:unavailable|not support|unsupported)/i

/** A message after the question. */
export type ChatMessage = { role: 'user' | 'assistant'; content: string }

/** A message of the conversation in the library's form. */
type LibraryMessage = Parameters<ModelClient['doGenerate']>[0]['prompt'][number]

type ToldSchema = Pick<AnswerSchema, 'told' | 'strict'>

/**
 * Requests one reply of a model. It skips what the library does for conversations with tools, because that takes longer
 * than the call. The schema is part of the instructions in any case. A server that accepts it as response_format also
 * enforces it.
 */
export async function callModel(
  question: ModelQuestion,
  exchange: readonly ChatMessage[],
  schema: ToldSchema | undefined,
  context: Pick<ProviderContext, 'signal' | 'now'>,
): Promise<ModelReply> {
  const { refused } = question.model
  if (schema?.told['type'] !== 'object' || refused.has(schema.told) || refused.has(ANY_SCHEMA))
    return exchangeOnce(question, exchange, undefined, context)
  const reply = await exchangeOnce(question, exchange, schema, context)
  if (reply.ok || !REFUSALS.has(reply.failure.status)) return reply
  const plain = await exchangeOnce(question, exchange, undefined, context)
  if (plain.ok) refused.add(REFUSES_ANY.test(reply.failure.outcome.message ?? '') ? ANY_SCHEMA : schema.told)
  return plain
}

async function exchangeOnce(
  question: ModelQuestion,
  exchange: readonly ChatMessage[],
  schema: ToldSchema | undefined,
  { signal, now }: Pick<ProviderContext, 'signal' | 'now'>,
): Promise<ModelReply> {
  const { model } = question
  const started = performance.now()
  try {
    const complete = model.api === 'anthropic' ? completeByLibrary : completePlainly
    const { text, end, usage } = await complete(question, exchange, schema, signal)
    const entry = (status: string) => ({
      provider: model.name,
      status,
      ms: Math.round(performance.now() - started),
      credits: 0,
      ...usageOf(usage),
    })
    const ended = describeEnd(end, text, question)
    if (ended === null) return { ok: true, text, entry }
    const outcome = { kind: 'failed' as const, message: ended, provenance: [entry('error')] }
    return { ok: false, failure: { outcome, broken: false } }
  } catch (cause) {
    return { ok: false, failure: readFailure(cause, { model, hidden: hiddenIn(question), now: now() }) }
  }
}

type Complete = (
  question: ModelQuestion,
  exchange: readonly ChatMessage[],
  schema: ToldSchema | undefined,
  signal: AbortSignal,
) => Promise<Pick<Completion, 'text' | 'usage'> & { end: string }>

const completePlainly: Complete = (question, exchange, schema, signal) => {
  const { model, instructions, task, data, temperature, maxOutputTokens } = question
  return completeChat(
    model.address,
    {
      messages: [
        { role: 'system', content: instructions },
        // Some OpenAI-compatible servers do not accept a message in parts.
        { role: 'user', content: data === '' ? task : `${task}\n\n${data}` },
        ...exchange,
      ],
      temperature,
      maxOutputTokens,
      format: schema === undefined ? undefined : { schema: schema.told, strict: schema.strict },
    },
    signal,
  )
}

const completeByLibrary: Complete = async (question, exchange, schema, signal) => {
  const { temperature, maxOutputTokens = ANTHROPIC_OUTPUT_TOKENS } = question
  const client = await question.model.connect()
  const { content, finishReason, usage } = await client.doGenerate({
    abortSignal: signal,
    prompt: [
      { role: 'system', content: question.instructions, providerOptions: KEPT },
      userMessage(question),
      ...exchange.map(({ role, content: text }) => sayAs(role, text)),
    ],
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(schema === undefined ? {} : formatOf(schema)),
  })
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    end: finishReason.unified,
    usage: {
      input: usage.inputTokens.total,
      output: usage.outputTokens.total,
      cachedInput: usage.inputTokens.cacheRead,
    },
  }
}

const sayAs = (role: 'user' | 'assistant', text: string): LibraryMessage => ({
  role,
  content: [{ type: 'text', text }],
})

function formatOf({ told, strict }: ToldSchema) {
  return {
    responseFormat: { type: 'json' as const, schema: told, name: 'answer' },
    providerOptions: { models: { strictJsonSchema: strict } },
  }
}

/** Puts the row data last, after the parts that are the same for every row, so that servers can cache those. */
function userMessage({ task, data }: ModelQuestion): LibraryMessage {
  if (data === '') return sayAs('user', task)
  return {
    role: 'user',
    content: [
      { type: 'text', text: task, providerOptions: KEPT },
      { type: 'text', text: data },
    ],
  }
}

function describeEnd(reason: string, text: string, question: ModelQuestion): string | null {
  if (reason !== 'length' && reason !== 'content-filter') return null
  const excerpt = clean(text, hiddenIn(question))
  if (reason === 'length')
    return `the answer was cut off at the limit of output tokens; ask for less, or raise max_output_tokens. The model said: ${excerpt}`
  return `the model or its content filter declined to answer${excerpt === '' ? '' : `. The model said: ${excerpt}`}`
}

function usageOf({ input, output, cachedInput = 0 }: Completion['usage']): { usage?: TokenUsage } {
  if (input === undefined && output === undefined) return {}
  return {
    usage: {
      input_tokens: input ?? 0,
      output_tokens: output ?? 0,
      ...(cachedInput === 0 ? {} : { cached_input_tokens: cachedInput }),
    },
  }
}
