import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from 'quickjs-emscripten'
import { variableName } from './binding.ts'

/** Code with its variables; `json` is an array with the value of each. */
export type Expression = { code: string; json: string; variables: number; timeoutMs: number }

export type Evaluation = { ok: true; text: string } | { ok: false; message: string; stopping?: true }

export type Evaluator = { evaluate(expression: Expression): Evaluation }

declare const WebAssembly: { Memory: new (size: { initial: number; maximum: number }) => object }

const PAGE = 65_536
const MEMORY_MB = 16
/** The program's own data and stack come on top of what an expression may use. */
const OVERHEAD_PAGES = 88
const STACK_BYTES = 256 * 1024
const FRESH_RUNTIME_AFTER = 1000

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
 * A QuickJS machine. QuickJS counts blocks and not bytes in this build, so the limit of memory is that of the WebAssembly
 * memory itself, which no code can pass.
 */
export async function createEvaluator(): Promise<Evaluator> {
  const pages = (MEMORY_MB * 1_048_576) / PAGE
  const wasmMemory = new WebAssembly.Memory({ initial: 256, maximum: pages + OVERHEAD_PAGES })
  const machine = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }))
  let runtime: QuickJSRuntime | null = null
  let used = 0

  return {
    evaluate(expression) {
      used += 1
      if (used % FRESH_RUNTIME_AFTER === 0) {
        runtime?.dispose()
        runtime = null
      }
      runtime ??= machine.newRuntime({ maxStackSizeBytes: STACK_BYTES })
      const evaluation = evaluateIn(runtime, expression)
      if (!evaluation.ok) {
        runtime.dispose()
        runtime = null
      }
      return evaluation
    },
  }
}

/** In a context of its own, so that nothing one expression does can be seen by the next. */
function evaluateIn(runtime: QuickJSRuntime, expression: Expression): Evaluation {
  const context = runtime.newContext({ intrinsics: INTRINSICS })
  const deadline = cpuMs() + expression.timeoutMs
  let late = false
  runtime.setInterruptHandler(() => {
    late ||= cpuMs() > deadline
    return late
  })
  try {
    const answer = call(context, expression)
    return late ? failed(`the expression took more than ${expression.timeoutMs} ms`) : answer
  } finally {
    context.dispose()
  }
}

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

/**
 * One text comes back, as JSON, since QuickJS hands texts over as C strings: what the expression comes to, or a list with
 * the words of its failure. `JSON` is taken before the expression runs, which may do with its own as it likes.
 */
function wrap(code: string, variables: number): string {
  const names = Array.from({ length: variables }, (_, place) => variableName(place)).join(',')
  const call = `(function(${names}){return(\n${code}\n)}).apply(undefined,JSON.parse(__json))`
  return `(function(__json){'use strict';const __stringify=JSON.stringify,__String=String,__Promise=Promise;
try{const __result=${call};${SHOW}}catch(__error){return __stringify([__String(__error)])}})`
}

const SHOW = `
if(__result===null||__result===undefined)return'""';
if(typeof __result==='function'||typeof __result==='symbol')return __stringify(['the expression gave a '+typeof __result]);
if(__result instanceof __Promise)return'["the expression gave a promise; it cannot wait for one"]';
return __stringify(typeof __result==='object'?__stringify(__result)??'':__String(__result))`

function takeText(context: QuickJSContext, handle: QuickJSHandle): string {
  const text = context.getString(handle)
  handle.dispose()
  return text
}

function failed(message: string): Evaluation {
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
