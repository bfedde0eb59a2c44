import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  RELEASE_SYNC,
} from 'quickjs-emscripten'
import { variableName } from './formula-binding.ts'

/** What one evaluation needs; `json` is an array with the value of each variable. */
export type Job = { code: string; json: string; variables: number; timeoutMs: number }

export type Evaluation = { ok: true; text: string } | { ok: false; message: string; stopping?: true }

export type Evaluator = { evaluate(job: Job): Evaluation }

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
    evaluate(job) {
      used += 1
      if (used % FRESH_RUNTIME_AFTER === 0) {
        runtime?.dispose()
        runtime = null
      }
      runtime ??= machine.newRuntime({ maxStackSizeBytes: STACK_BYTES })
      const evaluation = evaluateIn(runtime, job)
      if (!evaluation.ok) {
        runtime.dispose()
        runtime = null
      }
      return evaluation
    },
  }
}

/** In a context of its own, so that nothing one expression does can be seen by the next. */
function evaluateIn(runtime: QuickJSRuntime, job: Job): Evaluation {
  const context = runtime.newContext({ intrinsics: INTRINSICS })
  const deadline = cpuMs() + job.timeoutMs
  let late = false
  runtime.setInterruptHandler(() => {
    late ||= cpuMs() > deadline
    return late
  })
  try {
    const answer = call(context, job)
    if (late) return { ok: false, message: `the expression took more than ${job.timeoutMs} ms` }
    return answer.startsWith('=')
      ? { ok: true, text: answer.slice(1) }
      : { ok: false, message: explain(answer.slice(1)) }
  } finally {
    context.dispose()
  }
}

/** Only texts pass between the two sides: what went well begins with `=`, what failed with `!`. */
function call(context: QuickJSContext, { code, json, variables }: Job): string {
  const compiled = context.evalCode(wrap(code, variables), 'formula.js')
  if (compiled.error) return `!${takeError(context, compiled.error)}`
  const argument = context.newString(json)
  const called = context.callFunction(compiled.value, context.undefined, argument)
  compiled.value.dispose()
  argument.dispose()
  if (called.error) return `!${takeError(context, called.error)}`
  const text = context.getString(called.value)
  called.value.dispose()
  return text
}

function wrap(code: string, variables: number): string {
  const names = Array.from({ length: variables }, (_, place) => variableName(place)).join(',')
  return `(function(__json){'use strict';try{const __result=(function(${names}){return(\n${code}\n)}).apply(undefined,JSON.parse(__json));${SHOW}}catch(__error){return'!'+__error}})`
}

const SHOW = `
if(__result===null||__result===undefined)return'=';
if(typeof __result==='function'||typeof __result==='symbol')return'!the expression gave a '+typeof __result;
if(__result instanceof Promise)return'!the expression gave a promise; it cannot wait for one';
return'='+(typeof __result==='object'?JSON.stringify(__result)??'':String(__result))`

/** Errors that code cannot catch: the end of its time, and whatever failed before it ran. */
function takeError(context: QuickJSContext, error: QuickJSHandle): string {
  const message = context.getString(error)
  error.dispose()
  return message
}

function explain(message: string): string {
  if (message.includes('InternalError: out of memory'))
    return `the expression needs more than ${MEMORY_MB} MB`
  if (message.includes('InternalError: stack overflow')) return 'the expression calls itself too deep'
  return message.slice(0, 500).toWellFormed()
}

/** Processor time of this thread where Node can tell it, so that a busy machine does not cut an expression short. */
function cpuMs(): number {
  if (!('threadCpuUsage' in process)) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
