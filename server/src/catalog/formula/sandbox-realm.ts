import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten'
import {
  type Evaluation,
  failed,
  limitTime,
  namesOf,
  openContext,
  SHOW,
  readAndDispose,
} from './sandbox-evaluation.ts'

/**
 * A realm evaluates many rows of one expression of one organisation in one call. All objects that rows could share are
 * frozen, and no code can be made from text, so a row sees nothing of what another row did.
 */
export type Realm = {
  /**
   * Evaluates rows. `alone` means that the row needs its own context for a certain result. `late` or `broken` means that
   * the call did not finish: then the results of all rows are unknown, and the realm cannot be used again.
   */
  evaluate(jsons: readonly string[], limitMs: number): (Evaluation | 'alone')[] | 'late' | 'broken'
  /** Returns true if rows have left promises behind that will never settle. */
  isUsedUp(): boolean
  dispose(): void
}

/** Opens a realm for an expression. Returns null if the text is not exactly one expression. */
export function openRealm(runtime: QuickJSRuntime, code: string, variables: number): Realm | null {
  const context = openContext(runtime)
  const compiled = compile(context, code, variables)
  if (compiled === null) {
    context.dispose()
    return null
  }
  const { evaluateRows } = compiled

  return {
    evaluate(jsons, limitMs) {
      const isLate = limitTime(runtime, limitMs)
      const argument = context.newString(`[${jsons.join(',')}]`)
      const called = context.callFunction(evaluateRows, context.undefined, argument)
      argument.dispose()
      if (called.error) {
        called.error.dispose()
        return isLate() ? 'late' : 'broken'
      }
      const answers = readAnswers(readAndDispose(context, called.value), jsons.length)
      // The code may catch an interrupt. The call ends as late all the same.
      if (isLate()) return 'late'
      return answers.map((answer) => {
        if (typeof answer === 'string') return { ok: true, text: answer }
        return answer === 0 ? 'alone' : failed(answer[0])
      })
    },
    isUsedUp: () => runtime.hasPendingJob(),
    dispose() {
      evaluateRows.dispose()
      context.dispose()
    },
  }
}

/** Reads the result of each row. Any other answer means that the memory of the engine is broken. */
function readAnswers(text: string, count: number): (string | [string] | 0)[] {
  const answers: unknown = JSON.parse(text)
  const isAnswer = (one: unknown) =>
    typeof one === 'string' || one === 0 || (Array.isArray(one) && typeof one[0] === 'string')
  if (!Array.isArray(answers) || answers.length !== count || !answers.every(isAnswer))
    throw new Error('the engine gave something else than an answer for each row')
  return answers as (string | [string] | 0)[]
}

/**
 * Compiles an expression. It must compile inside square brackets and inside round ones: text that closes a bracket and
 * continues outside of the function does not fit both kinds.
 */
function compile(
  context: QuickJSContext,
  code: string,
  variables: number,
): { evaluateRows: QuickJSHandle } | null {
  const head = `(function(${namesOf(variables)}){'use strict';return`
  const square = context.evalCode(`${head}[\n${code}\n]})`, 'formula.js', { compileOnly: true })
  if (square.error) {
    square.error.dispose()
    return null
  }
  square.value.dispose()
  const open = context.evalCode(OPEN, 'realm.js')
  const formula = context.evalCode(`${head}(\n${code}\n)})`, 'formula.js')
  if (open.error || formula.error) {
    for (const result of [open, formula]) (result.error ?? result.value).dispose()
    return null
  }
  const opened = context.callFunction(open.value, context.undefined, formula.value)
  open.value.dispose()
  formula.value.dispose()
  if (opened.error) {
    opened.error.dispose()
    return null
  }
  return { evaluateRows: opened.value }
}

/**
 * Matches the errors that the expression itself causes. Any other error may come from a frozen object, so the row is
 * evaluated again in its own context, where an expression may change all that it finds.
 */
const OWN_FAILURES = String.raw`/^(TypeError: (cannot read property |not a function)|(Range|Reference|Syntax|URI)?Error\b)/`

const OPEN = `(function(__formula){'use strict';
let __tainted=false;
const __refuse=function(){__tainted=true;throw new TypeError('no code of text')};
const __kinds=[function(){},function*(){},async function(){},async function*(){}];
for(const __kind of __kinds){
  const __prototype=Object.getPrototypeOf(__kind);
  const __constructor=function(){return __refuse()};
  Object.defineProperty(__constructor,'prototype',{value:__prototype});
  Object.defineProperty(__prototype,'constructor',{value:__constructor});
}
globalThis.Function=Object.getPrototypeOf(__kinds[0]).constructor;
globalThis.eval=__refuse;
const __seen=new Set();
const __add=(__value)=>{
  if((typeof __value==='object'&&__value!==null)||typeof __value==='function')__seen.add(__value)
};
for(const __value of [globalThis,__formula,...__kinds,__kinds[1](),__kinds[3](),[].values(),new Map().values(),new Set().values(),
  ''[Symbol.iterator](),'a'.matchAll(/a/g),[].values().map(String),Iterator.from({next(){}}),
  Object.getOwnPropertyDescriptor((function(){return arguments})(),'callee')?.get])__add(__value);
for(const __value of __seen){
  __add(Object.getPrototypeOf(__value));
  for(const __key of Reflect.ownKeys(__value)){
    const __held=Object.getOwnPropertyDescriptor(__value,__key);
    __add(__held.value);__add(__held.get);__add(__held.set);
  }
  Object.freeze(__value);
}
const __parse=JSON.parse,__stringify=JSON.stringify,__String=String,__Promise=Promise,__own=${OWN_FAILURES};
const __show=(__result)=>{${SHOW}};
const __evaluate=(__values)=>{
  __tainted=false;
  let __shown;
  try{__shown=__show(__formula.apply(undefined,__values))}
  catch(__error){
    try{
      const __words=__String(__error);
      __shown=__own.test(__words)?__stringify([__words]):'0';
    }catch{__shown='0'}
  }
  return __tainted?'0':__shown
};
return (__json)=>'['+__parse(__json).map(__evaluate).join(',')+']'
})`
