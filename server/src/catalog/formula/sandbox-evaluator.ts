import type { QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten'
import { type Evaluation, evaluateAlone, type Expression, tookTooLong } from './sandbox-evaluation.ts'
import { openRealm, type Realm } from './sandbox-realm.ts'

/** The rows of one expression. */
export type ExpressionRows = Omit<Expression, 'json'> & { jsons: readonly string[] }

export type Evaluator = {
  /** Evaluates one expression in its own context. */
  evaluate(expression: Expression): Evaluation
  /**
   * Evaluates as many of the first rows as one call can take, and returns one result for each of them. A row with the
   * result `alone` must be evaluated in its own context.
   */
  evaluateSome(rows: ExpressionRows): (Evaluation | 'alone')[]
  /** Returns how many rows were evaluated. */
  evaluated(): number
}

/** The most realms that one machine keeps. */
export const MAX_REALMS = 8
const STACK_BYTES = 256 * 1024
const FRESH_RUNTIME_AFTER = 1000
/** The number of rows from which a realm pays off. Creating a realm takes as long as creating this many contexts. */
const WORTH_A_REALM = 16
const MAX_KNOWN = 10_000
const ROWS_PER_CALL = 64
const CHARACTERS_PER_CALL = 200_000
/**
 * The time that one call of many rows should take, and the time after which it is interrupted. After an interrupt, each
 * row is evaluated alone with its own time limit.
 */
const CALL_MS = 2
const MAX_CALL_MS = 10
const MAX_ROWS = 100_000

type OpenRealm = { realm: Realm; runtime: QuickJSRuntime; rows: number; msPerRow: number }

/**
 * The number of rows of each expression that were evaluated without a realm, by owner and code. Infinity marks an
 * expression that cannot have a realm.
 */
export type SeenRows = Map<string, number>

/**
 * Creates an evaluator for the expressions of one owner, on a QuickJS machine that no other owner uses. `seen` outlives
 * the machine.
 */
export function createEvaluator(machine: QuickJSWASMModule, owner: string, seen: SeenRows): Evaluator {
  const realms = createRealms(machine, seen)
  let alone: QuickJSRuntime | null = null
  let used = 0
  let evaluated = 0

  function evaluate(expression: Expression): Evaluation {
    evaluated += 1
    used += 1
    if (used % FRESH_RUNTIME_AFTER === 0) dropAlone()
    alone ??= makeRuntime(machine)
    const evaluation = evaluateAlone(alone, expression)
    if (!evaluation.ok) dropAlone()
    return evaluation
  }

  function dropAlone(): void {
    alone?.dispose()
    alone = null
  }

  return {
    evaluate,
    evaluated: () => evaluated,
    evaluateSome(rows) {
      const key = `${owner} ${rows.code}`
      const open = realms.find(key, rows)
      if (open === null) {
        realms.noteAlone(key)
        return ['alone']
      }
      const batch = takeFirst(rows.jsons, CALL_MS / open.msPerRow)
      const began = performance.now()
      const limitMs = batch.length === 1 ? rows.timeoutMs : Math.min(rows.timeoutMs, MAX_CALL_MS)
      const answers = open.realm.evaluate(batch, limitMs)
      if (typeof answers === 'string') {
        realms.close(key)
        seen.delete(key)
        return answers === 'late' && batch.length === 1
          ? [tookTooLong(rows.timeoutMs)]
          : batch.map(() => 'alone')
      }
      open.rows += batch.length
      evaluated += batch.length
      open.msPerRow += ((performance.now() - began) / batch.length - open.msPerRow) / 4
      if (open.rows > MAX_ROWS || open.realm.isUsedUp()) realms.close(key)
      return answers
    },
  }
}

/** Keeps the realms of the expressions that were used most recently. */
function createRealms(machine: QuickJSWASMModule, seen: SeenRows) {
  /** The realms by code. The most recently used one is the last. */
  const realms = new Map<string, OpenRealm>()

  function close(key: string): void {
    const open = realms.get(key)
    realms.delete(key)
    open?.realm.dispose()
    open?.runtime.dispose()
  }

  function note(key: string, count: number): void {
    if (seen.size >= MAX_KNOWN) seen.clear()
    seen.set(key, count)
  }

  return {
    close,
    /** Returns the realm of an expression, or null if its rows are to be evaluated alone. */
    find(key: string, { code, variables, jsons }: ExpressionRows): OpenRealm | null {
      const known = realms.get(key)
      if (known !== undefined) {
        realms.delete(key)
        realms.set(key, known)
        return known
      }
      const before = seen.get(key) ?? 0
      if (before === NEVER || before + jsons.length < WORTH_A_REALM) return null
      const runtime = makeRuntime(machine)
      const realm = openRealm(runtime, code, variables)
      if (realm === null) {
        runtime.dispose()
        note(key, NEVER)
        return null
      }
      const [oldest] = realms.keys()
      if (realms.size >= MAX_REALMS && oldest !== undefined) close(oldest)
      const open = { realm, runtime, rows: 0, msPerRow: CALL_MS / 4 }
      realms.set(key, open)
      return open
    },
    /** Counts a row that is evaluated without a realm. */
    noteAlone(key: string): void {
      const count = seen.get(key) ?? 0
      if (count !== NEVER) note(key, count + 1)
    },
  }
}

function makeRuntime(machine: QuickJSWASMModule): QuickJSRuntime {
  return machine.newRuntime({ maxStackSizeBytes: STACK_BYTES })
}

const NEVER = Infinity

function takeFirst(jsons: readonly string[], max: number): readonly string[] {
  const most = Math.max(1, Math.min(ROWS_PER_CALL, Math.floor(max)))
  let characters = 0
  const over = jsons.findIndex((json) => (characters += json.length) > CHARACTERS_PER_CALL)
  return jsons.slice(0, Math.max(1, over < 0 ? most : Math.min(over, most)))
}
