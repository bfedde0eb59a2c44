import { pause } from '../../lib/timing/turns.ts'
import type { Sandbox } from '../formula/sandbox.ts'
import { type Outcome, type Provenance, retry, wait } from '../outcome.ts'
import type { CellContext } from '../provider/context.ts'
import { readSlot } from '../provider/single-provider.ts'
import { findJsonText, readJson } from '../values/json-text.ts'
import type { AnswerSchema } from './answer-schema.ts'
import { callModel, type ChatMessage } from './model-call.ts'
import { clean, type ModelFailure } from './model-failures.ts'
import { hiddenIn, type ModelQuestion, type ModelReply } from './model-question.ts'

/** The part of a cell's context that is needed to ask a model. */
export type ModelContext = Pick<CellContext, 'gate' | 'signal' | 'now' | 'state'> & {
  /** The sandbox in which callers' expressions run. */
  sandbox: Sandbox
}

/** A valid answer and the calls that it took. */
export type ModelAnswer<Value> =
  | { ok: true; value: Value; calls: Provenance[] }
  /** The outcome that the action returns instead. */
  | { ok: false; outcome: Outcome<never> }

/** Asks the model for a text. */
export function askText(question: ModelQuestion, context: ModelContext): Promise<ModelAnswer<string>> {
  return throughGate(question, context, async (call) => {
    const reply = await call(question, [])
    if (!reply.ok) return giveUp(reply.failure)
    const text = reply.text.trim()
    if (text === '') return refuse('the model gave an empty answer', [reply.entry('invalid')])
    return { ok: true, value: text, calls: [reply.entry('hit')] }
  })
}

/** Asks the model for JSON that fits a schema. An answer that does not fit is sent back once, with its faults. */
export function askObject(
  question: ModelQuestion,
  schema: AnswerSchema,
  context: ModelContext,
): Promise<ModelAnswer<unknown>> {
  const check = (value: unknown) => schema.check(value, context.sandbox)
  return askChecked(question, { ...schema, check }, context)
}

/** A schema of this program, whose check runs no expression of a caller. */
export type CheckedSchema = Pick<AnswerSchema, 'told' | 'strict' | 'read'> & {
  check(value: unknown): Promise<string[]>
}

/** Does the same for a schema of this program. */
export function askChecked(
  question: ModelQuestion,
  schema: CheckedSchema,
  context: Omit<ModelContext, 'sandbox'>,
): Promise<ModelAnswer<unknown>> {
  return throughGate(question, context, async (call) => {
    const calls: Provenance[] = []
    let exchange: ChatMessage[] = []
    for (let attempt = 1; ; attempt += 1) {
      const reply = await call(question, exchange, schema)
      if (!reply.ok) return giveUp(reply.failure, calls)
      const read = await readAnswer(reply.text, schema)
      if (read.ok) return { ok: true, value: read.value, calls: [...calls, reply.entry('hit')] }
      calls.push(reply.entry('invalid'))
      if (attempt === 2) {
        const [faults, excerpt] = [read.faults.join('; '), reply.text].map((text) =>
          clean(text, hiddenIn(question)),
        )
        return refuse(
          `the answer does not fit output_format (${faults}). The model said: ${excerpt || 'nothing'}`,
          calls,
        )
      }
      exchange = [
        { role: 'assistant', content: reply.text.trim() || '(nothing)' },
        { role: 'user', content: askToRepair(read.faults) },
      ]
    }
  })
}

function giveUp({ outcome }: ModelFailure, calls: Provenance[] = []): ModelAnswer<never> {
  if (outcome.kind !== 'failed') return { ok: false, outcome }
  return { ok: false, outcome: { ...outcome, provenance: [...calls, ...(outcome.provenance ?? [])] } }
}

const refuse = (message: string, provenance: Provenance[]): ModelAnswer<never> => ({
  ok: false,
  outcome: { kind: 'failed', message, provenance },
})

function askToRepair(faults: string[]): string {
  return `That answer does not fit the schema:\n${faults.map((fault) => `- ${fault}`).join('\n')}\nAnswer again with the corrected JSON only.`
}

const LONGEST_FAULT = 300

type Read = { ok: true; value: unknown } | { ok: false; faults: string[] }

async function readAnswer(text: string, schema: CheckedSchema): Promise<Read> {
  // Each step takes some milliseconds for an answer of a megabyte, and answers of many rows arrive together.
  await pause()
  const json = findJsonText(text)
  await pause()
  const parsed = readJson(json)
  if (!parsed.ok) return { ok: false, faults: ['it is not JSON'] }
  const { read = (answer: unknown) => answer } = schema
  await pause()
  // The returned value keeps the digits of long numbers. The schema checks them as plain numbers.
  const faults = await schema.check(read(JSON.parse(json)))
  if (faults.length === 0) return { ok: true, value: read(parsed.value) }
  // Faults contain keys, and a key can have any length.
  return { ok: false, faults: faults.map((fault) => fault.slice(0, LONGEST_FAULT)) }
}

type Call = (question: ModelQuestion, exchange: ChatMessage[], schema?: CheckedSchema) => Promise<ModelReply>

/**
 * Holds one slot at the gate for all calls of a question: a model limits concurrent calls, and these calls follow one
 * another.
 */
async function throughGate<Value>(
  { model }: ModelQuestion,
  context: Omit<ModelContext, 'sandbox'>,
  ask: (call: Call) => Promise<ModelAnswer<Value>>,
): Promise<ModelAnswer<Value>> {
  const gate = await context.gate.enter(model.bucket, model.limits, context, readSlot(context.state))
  if (gate.kind === 'busy') return { ok: false, outcome: wait(gate.afterMs, { slot: gate.slot }) }
  if (gate.kind === 'broken') {
    return {
      ok: false,
      outcome: retry(
        `the model server of ${model.name} keeps failing and is not called for a while`,
        gate.afterMs,
      ),
    }
  }
  let broken = false
  try {
    return await ask(async (question, exchange, schema) => {
      const reply = await callModel(question, exchange, schema, context)
      broken = !reply.ok && reply.failure.broken
      return reply
    })
  } finally {
    gate.leave(broken ? 'broken' : 'worked')
  }
}
