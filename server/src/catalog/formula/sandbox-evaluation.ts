import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten'
import { variableName } from './binding.ts'

/** Code with its variables. `json` is an array with the value of each variable. */
export type Expression = { code: string; json: string; variables: number; timeoutMs: number }

export type Evaluation = { ok: true; text: string } | { ok: false; message: string; stopping?: true }

export const MEMORY_MB = 16

/** The parts of JavaScript that an expression can use. None of them reaches out of the sandbox. */
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
 * Array methods that the engine cannot run safely. Its garbage collector walks their unfinished result, and an expression
 * can use that to read and write any memory of the engine. Fixed upstream on 2026-03-21; `sandbox-isolation.test.ts`
 * lists such fixes.
 */
const WITHHELD = ['toReversed', 'toSorted', 'toSpliced', 'with']
const WITHHOLD = WITHHELD.map((name) => `delete Array.prototype.${name};`).join('')

/** Creates a context without the withheld methods. They are removed before any code of an expression is read. */
export function openContext(runtime: QuickJSRuntime): QuickJSContext {
  const context = runtime.newContext({ intrinsics: INTRINSICS })
  runtime.removeInterruptHandler()
  context.unwrapResult(context.evalCode(WITHHOLD, 'context.js')).dispose()
  return context
}

/** Evaluates an expression in its own context, so that the next expression sees nothing of what it did. */
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

/** Interrupts the runtime after this many milliseconds. Returns a function that tells if that has happened. */
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
  if (compiled.error) return failed(readAndDispose(context, compiled.error))
  const argument = context.newString(json)
  const called = context.callFunction(compiled.value, context.undefined, argument)
  compiled.value.dispose()
  argument.dispose()
  if (called.error) return failed(readAndDispose(context, called.error))
  const answer: unknown = JSON.parse(readAndDispose(context, called.value))
  return typeof answer === 'string' ? { ok: true, text: answer } : failed(String(answer))
}

export const namesOf = (variables: number): string =>
  Array.from({ length: variables }, (_, place) => variableName(place)).join(',')

/**
 * Wraps the code in a function that returns one text of JSON, since QuickJS returns texts as C strings: the result as a
 * string, or a list with the error message. The function keeps its own reference to `JSON` before the expression runs,
 * because the expression may change the global one.
 */
function wrap(code: string, variables: number): string {
  const call = `(function(${namesOf(variables)}){return(\n${code}\n)}).apply(undefined,JSON.parse(__json))`
  return `(function(__json){'use strict';const __stringify=JSON.stringify,__String=String,__Promise=Promise;
try{const __result=${call};${SHOW}}catch(__error){return __stringify([__String(__error)])}})`
}

/** The code that returns the text of `__result` as JSON, or a list with an error message. */
export const SHOW = `
if(__result===null||__result===undefined)return'""';
if(typeof __result==='function'||typeof __result==='symbol')return __stringify(['the expression gave a '+typeof __result]);
if(__result instanceof __Promise)return'["the expression gave a promise; it cannot wait for one"]';
return __stringify(typeof __result==='object'?__stringify(__result)??'':__String(__result))`

export function readAndDispose(context: QuickJSContext, handle: QuickJSHandle): string {
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

/**
 * Returns the processor time of this thread, so that a busy machine does not shorten an expression's time. Falls back to
 * the clock if Node cannot tell the processor time.
 */
function cpuMs(): number {
  if (!('threadCpuUsage' in process)) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
