import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten'
import { variableName } from './binding.ts'

/** Code with its variables; `json` is an array with the value of each. */
export type Expression = { code: string; json: string; variables: number; timeoutMs: number }

export type Evaluation = { ok: true; text: string } | { ok: false; message: string; stopping?: true }

export const MEMORY_MB = 16

/** What JavaScript an expression finds. There is nothing in it that reaches out of the sandbox. */
const INTRINSICS = {
  BaseObjects: true,
  BigInt: true,
  Date: true,
  Eval: true,
  JSON: true,
  MapSet: true,
  Promise: true,
  RegExp: true,
  RegExpCompiler: true,
  StringNormalize: true,
}

/**
 * Array methods that the engine cannot run safely: its garbage collector walks their unfinished result, which an expression can
 * turn into reading and writing any memory of the engine (fixed upstream on 2026-03-21, `sandbox-isolation.test.ts` lists such fixes).
 */
const WITHHELD = ['toReversed', 'toSorted', 'toSpliced', 'with']
const WITHHOLD = WITHHELD.map((name) => `delete Array.prototype.${name};`).join('')

/** Returns a context without the methods that are withheld. They are removed before code of an expression is read. */
export function openContext(runtime: QuickJSRuntime): QuickJSContext {
  const context = runtime.newContext({ intrinsics: INTRINSICS })
  runtime.removeInterruptHandler()
  context.unwrapResult(context.evalCode(WITHHOLD, 'context.js')).dispose()
  return context
}

/** In a context of its own, so that nothing one expression does can be seen by the next. */
export function evaluateAlone(runtime: QuickJSRuntime, expression: Expression): Evaluation {
  const context = openContext(runtime)
  const isLate = limitTime(runtime, expression.timeoutMs)
  try {
    const answer = call(context, expression)
    return isLate() ? tookTooLong(expression.timeoutMs) : answer
  } finally {
    context.dispose()
  }
}

/** Interrupts what the runtime executes after so long; answers whether that has happened. */
export function limitTime(runtime: QuickJSRuntime, ms: number): () => boolean {
  const deadline = cpuMs() + ms
  let late = false
  runtime.setInterruptHandler(() => {
    late ||= cpuMs() > deadline
    return late
  })
  return () => late
}

export const tookTooLong = (ms: number): Evaluation => failed(`the expression took more than ${ms} ms`)

function call(context: QuickJSContext, { code, json, variables }: Expression): Evaluation {
  const compiled = context.evalCode(wrap(code, variables), 'formula.js')
  if (compiled.error) return failed(takeText(context, compiled.error))
  const argument = context.newString(json)
  const called = context.callFunction(compiled.value, context.undefined, argument)
  compiled.value.dispose()
  argument.dispose()
  if (called.error) return failed(takeText(context, called.error))
  const answer: unknown = JSON.parse(takeText(context, called.value))
  return typeof answer === 'string' ? { ok: true, text: answer } : failed(String(answer))
}

export const namesOf = (variables: number): string =>
  Array.from({ length: variables }, (_, place) => variableName(place)).join(',')

/**
 * One text comes back, as JSON, since QuickJS hands texts over as C strings: what the expression comes to, or a list with
 * the words of its failure. `JSON` is taken before the expression runs, which may do with its own as it likes.
 */
function wrap(code: string, variables: number): string {
  const call = `(function(${namesOf(variables)}){return(\n${code}\n)}).apply(undefined,JSON.parse(__json))`
  return `(function(__json){'use strict';const __stringify=JSON.stringify,__String=String,__Promise=Promise;
try{const __result=${call};${SHOW}}catch(__error){return __stringify([__String(__error)])}})`
}

/** Answers the text of `__result` as JSON, or a list with what is wrong about it. */
export const SHOW = `
if(__result===null||__result===undefined)return'""';
if(typeof __result==='function'||typeof __result==='symbol')return __stringify(['the expression gave a '+typeof __result]);
if(__result instanceof __Promise)return'["the expression gave a promise; it cannot wait for one"]';
return __stringify(typeof __result==='object'?__stringify(__result)??'':__String(__result))`

export function takeText(context: QuickJSContext, handle: QuickJSHandle): string {
  const text = context.getString(handle)
  handle.dispose()
  return text
}

export function failed(message: string): Evaluation {
  return { ok: false, message: explain(message) }
}

function explain(message: string): string {
  if (message.includes('InternalError: out of memory'))
    return `the expression needs more than ${MEMORY_MB} MB`
  if (message.includes('InternalError: stack overflow')) return 'the expression calls itself too deep'
  return message
    .slice(0, 500)
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
}

/** Processor time of this thread where Node can tell it, so that a busy machine does not cut an expression short. */
function cpuMs(): number {
  if (!('threadCpuUsage' in process)) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
