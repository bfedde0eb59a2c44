import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelMessage } from 'ai'
import { takeTurn, toolResult, type ChatTurn, type ToolCall } from '../models/chat.ts'
import type { ModelFailure } from '../models/model-failures.ts'
import type { Model } from '../models/models.ts'
import { findJsonText, readJson } from '../values/json-text.ts'
import { PLAIN_RULES, printTask, RESEARCH_RULES } from './instructions.ts'
import type { AgentTask } from './task.ts'
import { runTool, type Toolbox, TOOLS } from './tools.ts'

export type ResearchParts = {
  model: Model
  task: AgentTask
  tools: Toolbox
  /** Makes a call when the limits of the model allow it. Returns null if no slot is free before the time is up. */
  throughGate: <Value>(call: () => Promise<Value>) => Promise<Value | null>
  signal: AbortSignal
  now: () => Date
}

export type Researched = { ok: true; summary: string } | { ok: false; failure: ModelFailure }

const MAX_OUTPUT_TOKENS = 2000
const MAX_CALLS_A_TURN = 4
const MAX_RETRIES = 3
/** The number of characters of results that stay in the conversation. Older results are shortened. */
const MAX_CONVERSATION = 60_000
const SHORTENED = 400

/** The key by which a model's server is remembered as refusing tools, so that later turns use plain words at once. */
const REFUSED_TOOLS = { tools: TOOLS.map(({ name }) => name) }

/**
 * Lets the model search and read until it has enough or a limit is reached. A failure of the model only fails the run if
 * no page has been read yet. Otherwise the answer is written from the pages that have been read.
 */
export async function research(parts: ResearchParts): Promise<Researched> {
  const { model, task, tools } = parts
  const { budget, tracer, pages } = tools
  const messages: ModelMessage[] = [{ role: 'user', content: printTask(task) }]
  let retries = 0
  let summary = ''
  for (;;) {
    tracer.trace.ended_by = budget.over()
    if (tracer.trace.ended_by !== null || parts.signal.aborted) return { ok: true, summary }
    const isPlain = model.refused.has(REFUSED_TOOLS)
    const turn = await parts.throughGate(() => ask(parts, messages, isPlain))
    if (turn === null) {
      tracer.trace.ended_by = 'model limits'
      return { ok: true, summary }
    }
    budget.add({ steps: 1 })
    if (!turn.ok) {
      if (turn.toolsRefused) {
        model.refused.add(REFUSED_TOOLS)
        continue
      }
      const { outcome } = turn.failure
      if (
        outcome.kind === 'retry' &&
        retries < MAX_RETRIES &&
        (await pause(parts, outcome.afterMs, retries))
      ) {
        retries += 1
        continue
      }
      tracer.add({ kind: 'note', text: outcome.message.slice(0, 500) })
      return pages.length === 0 ? { ok: false, failure: turn.failure } : { ok: true, summary }
    }
    retries = 0
    const { inputTokens: input_tokens, outputTokens: output_tokens, ms, text } = turn
    budget.add({ tokens: input_tokens + output_tokens })
    tracer.add({ kind: 'model', purpose: 'step', ms, input_tokens, output_tokens })
    tracer.plan(text)
    summary = text.trim() === '' ? summary : text
    const calls = isPlain ? readPlainCall(text) : turn.calls
    if (calls.length === 0) return { ok: true, summary }
    messages.push(...turn.messages)
    for (const [n, call] of calls.entries()) {
      const result =
        n < MAX_CALLS_A_TURN
          ? await runTool(tools, call.name, call.input)
          : 'Too many calls at once: ask again.'
      messages.push(isPlain ? { role: 'user', content: result } : toolResult(call, result))
    }
    shorten(messages)
  }
}

function ask(
  { model, signal, now }: ResearchParts,
  messages: ModelMessage[],
  isPlain: boolean,
): Promise<ChatTurn> {
  return takeTurn({
    model,
    instructions: isPlain ? `${RESEARCH_RULES}\n\n${PLAIN_RULES}` : RESEARCH_RULES,
    messages,
    tools: isPlain ? [] : TOOLS,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    signal,
    now: now(),
  })
}

/** Waits before a retry. Returns false if there is not enough time left. */
async function pause(
  { tools, signal }: ResearchParts,
  afterMs: number | undefined,
  retries: number,
): Promise<boolean> {
  const ms = afterMs ?? 500 * 2 ** retries
  if (ms > tools.budget.remainingMs() / 3) return false
  return sleep(ms, true, { signal }).catch(() => false)
}

/**
 * Returns the tool call that a model without tools has written as JSON, or nothing if it has finished or wrote something
 * else.
 */
function readPlainCall(text: string): ToolCall[] {
  const found = readJson(findJsonText(text))
  if (!found.ok || typeof found.value !== 'object' || found.value === null) return []
  const { tool, ...input } = found.value as Record<string, unknown>
  return tool === 'search' || tool === 'read_page' ? [{ id: 'plain', name: tool, input }] : []
}

/** Keeps the newest results whole and shortens older ones, so that small models still see the task. */
function shorten(messages: ModelMessage[]): void {
  let size = 0
  for (let place = messages.length - 1; place > 0; place -= 1) {
    const message = messages[place]
    if (message === undefined) continue
    const length = JSON.stringify(message.content).length
    size += length
    if (size > MAX_CONVERSATION && length > 2 * SHORTENED) messages[place] = cut(message)
  }
}

function cut(message: ModelMessage): ModelMessage {
  const short = (text: string) =>
    `${text.slice(0, SHORTENED).toWellFormed()}\n[shortened; read the page again for more]`
  if (message.role === 'user' && typeof message.content === 'string')
    return { role: 'user', content: short(message.content) }
  if (message.role !== 'tool') return message
  const content = message.content.map((part) =>
    part.type === 'tool-result' && part.output.type === 'text'
      ? { ...part, output: { ...part.output, value: short(part.output.value) } }
      : part,
  )
  return { ...message, content }
}
