import type { jsonSchema, ModelMessage, ToolSet } from 'ai'
import type { JsonSchema } from '../schema/json-schema.ts'
import { clean, type ModelFailure, readFailure } from './model-failures.ts'
import type { Model } from './models.ts'

// Otherwise the library prints features that a model does not support to the process's own stderr.
globalThis.AI_SDK_LOG_WARNINGS = false

export type ChatTool = { name: string; description: string; input: JsonSchema }
export type ToolCall = { id: string; name: string; input: unknown }

export type ChatRequest = {
  model: Model
  instructions: string
  messages: readonly ModelMessage[]
  tools: readonly ChatTool[]
  maxOutputTokens: number
  signal: AbortSignal
  now: Date
}

export type ChatTurn =
  | {
      ok: true
      text: string
      calls: ToolCall[]
      /** The messages of the model, to continue the conversation with. */
      messages: ModelMessage[]
      inputTokens: number
      outputTokens: number
      ms: number
    }
  | { ok: false; failure: ModelFailure; toolsRefused: boolean }

/** The statuses with which servers refuse tools that they, or the model, do not support. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 404, 422, 501])

/** Takes one turn of a conversation in which the model may ask for tools. The caller runs the tools. */
export async function takeTurn(request: ChatRequest): Promise<ChatTurn> {
  const { model, instructions, messages, tools, signal, now, maxOutputTokens } = request
  const hidden = model.apiKey === undefined ? [] : [model.apiKey]
  const started = performance.now()
  try {
    const { generateText, jsonSchema: describe } = await import('ai')
    const turn = await generateText({
      model: await model.connect(),
      maxRetries: 0,
      abortSignal: signal,
      instructions: { role: 'system', content: instructions },
      messages: [...messages],
      maxOutputTokens,
      ...(tools.length === 0 ? {} : { tools: toToolSet(tools, describe) }),
    })
    if (turn.finishReason === 'content-filter') {
      const message = `the model or its content filter declined to answer: ${clean(turn.text, hidden)}`
      return {
        ok: false,
        failure: { outcome: { kind: 'failed', message }, broken: false },
        toolsRefused: false,
      }
    }
    return {
      ok: true,
      text: turn.text,
      calls: turn.toolCalls.map(({ toolCallId, toolName, input }) => ({
        id: toolCallId,
        name: toolName,
        input: input as unknown,
      })),
      messages: turn.response.messages,
      inputTokens: turn.usage.inputTokens ?? 0,
      outputTokens: turn.usage.outputTokens ?? 0,
      ms: Math.round(performance.now() - started),
    }
  } catch (cause) {
    const failure = readFailure(cause, { model, hidden, now })
    const toolsRefused =
      tools.length > 0 && REFUSALS.has(failure.status) && /tool|function/i.test(failure.outcome.message)
    return { ok: false, failure, toolsRefused }
  }
}

/**
 * Converts the tools to the library's form, without functions to run them: the library only passes on the calls of the
 * model.
 */
function toToolSet(tools: readonly ChatTool[], describe: typeof jsonSchema): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input }) => [name, { description, inputSchema: describe(input) }]),
  )
}

/** Returns the message that carries the result of a tool call. */
export function toolResult(call: ToolCall, text: string): ModelMessage {
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        output: { type: 'text', value: text },
      },
    ],
  }
}
