import { afterAll, describe, expect, it } from 'vitest'
import type { Evaluation } from './sandbox-evaluation.ts'
import type { Evaluator } from './sandbox-evaluator.ts'
import { createMachines } from './sandbox-machines.ts'
import { createSandbox, type SandboxPool } from './sandbox.ts'

const ROWS = 64
const numbers = Array.from({ length: ROWS }, (_, n) => n)
const evaluator = await createMachines().use<Evaluator>(
  'a',
  (machine) => machine,
  (fault) => {
    throw new Error(fault)
  },
)

const ofRow = (code: string, n: number) => ({ code, variables: 1, timeoutMs: 2000, json: `[${n}]` })
const rowsFrom = (code: string, first: number) => ({
  ...ofRow(code, 0),
  jsons: numbers.slice(first).map((n) => `[${n}]`),
})

/** Evaluates the rows of one expression as a worker does, and counts how many of them shared the realm. */
function evaluateRows(code: string): { answers: Evaluation[]; shared: number } {
  const answers: Evaluation[] = []
  let shared = 0
  while (answers.length < ROWS) {
    for (const answer of evaluator.evaluateSome(rowsFrom(code, answers.length))) {
      if (answer !== 'alone') shared += 1
      answers.push(answer === 'alone' ? evaluator.evaluate(ofRow(code, answers.length)) : answer)
    }
  }
  return { answers, shared }
}

const textsOf = (answers: Evaluation[]) => answers.map((answer) => (answer.ok ? answer.text : answer.message))

describe('rows of one expression share a realm', () => {
  it.each([
    ['__v0 + 1', (n: number) => String(n + 1)],
    ['({ n: [__v0], d: new Date(0) })', (n: number) => `{"n":[${n}],"d":"1970-01-01T00:00:00.000Z"}`],
    ['"a-b".split("-").map((part) => part + __v0).join()', (n: number) => `a${n},b${n}`],
    ['[...new Map([[1, __v0]]).values()].at(0)', (n: number) => String(n)],
    [
      '(() => { const found = {}; found[`k${__v0}`] = 1; return Object.keys(found) })()',
      (n: number) => `["k${n}"]`,
    ],
    [
      '(() => { class Own { static made = 0; constructor() { Own.made += 1 } } new Own(); return Own.made })()',
      () => '1',
    ],
    ['(() => { const found = /b/g; found.test("ab"); return found.lastIndex })()', () => '2'],
  ])('%s', (code, textOf) => {
    const { answers, shared } = evaluateRows(code)
    expect(textsOf(answers)).toEqual(numbers.map(textOf))
    expect(shared).toBe(ROWS)
  })

  it('errors of the expression itself need no separate context', () => {
    const { answers, shared } = evaluateRows('__v0 % 2 ? null.x : undefined.call()')
    expect(textsOf(answers)).toEqual(
      numbers.map(
        (n) => `TypeError: cannot read property '${n % 2 ? 'x' : 'call'}' of ${n % 2 ? 'null' : 'undefined'}`,
      ),
    )
    expect(shared).toBe(ROWS)
  })
})

/**
 * Returns an expression that acts in the row with number 3. In every other row it returns what it sees of that action.
 */
const third = (act: string, look: string) => `(__v0 === 3 ? (() => { ${act}; return "done" })() : ${look})`

describe('no row sees what another row of the same expression does', () => {
  it.each([
    ['a global', 'globalThis.leak = 1', 'typeof leak', 'undefined'],
    ['a global of a name that is there', 'globalThis.undefined = 1', 'typeof undefined', 'undefined'],
    ['a global that is gone', 'delete globalThis.Map', 'typeof Map', 'function'],
    ['a polluted prototype', 'Object.prototype.leak = 1', '"leak" in {}', 'false'],
    ['one by __proto__', '({}).__proto__.leak = 1', '"leak" in {}', 'false'],
    ['one by defineProperty', 'Object.defineProperty(Array.prototype, "leak", { value: 1 })', '[].leak', ''],
    [
      'another prototype of a prototype',
      'Object.setPrototypeOf(Array.prototype, { leak: 1 })',
      '[].leak',
      '',
    ],
    ['a method of lists', 'Array.prototype.map = () => "x"', '[1].map((n) => n + 1)', '[2]'],
    ['JSON', 'JSON.parse = JSON.stringify = () => "x"', 'JSON.stringify(JSON.parse("[1]"))', '[1]'],
    ['String', 'globalThis.String = () => "x"', 'String(1)', '1'],
    ['the random numbers', 'Math.random = () => 7', 'Math.random() < 1', 'true'],
    ['the clock', 'Date.now = () => 7', 'Date.now() > 7', 'true'],
    ['what dates are', 'globalThis.Date = class { getTime() { return 7 } }', 'new Date(1).getTime()', '1'],
    ['a getter', 'Object.defineProperty(Math, "PI", { get: () => 3 })', 'Math.PI > 3', 'true'],
    ['a getter on a prototype', 'Object.prototype.__defineGetter__("leak", () => 1)', '({}).leak', ''],
    [
      'a species',
      'Object.defineProperty(Array, Symbol.species, { value: Object })',
      '[1].map(String)',
      '["1"]',
    ],
    ['the iterator of lists', 'Array.prototype[Symbol.iterator] = function* () {}', '[...[1]]', '[1]'],
    ['the prototype of iterators', 'Object.getPrototypeOf([].values()).next = 1', '[...[1].values()]', '[1]'],
    [
      'iterator helpers',
      'Object.getPrototypeOf([].values().map(String)).leak = 1',
      '[].values().map(String).leak',
      '',
    ],
    [
      'the prototype of generators',
      'Object.getPrototypeOf(function* () {}).leak = 1',
      '(function* () {}).leak',
      '',
    ],
    [
      'what generators inherit',
      'Object.getPrototypeOf((function* () {})()).leak = 1',
      '(function* () {})().leak',
      '',
    ],
    ['async functions', 'Object.getPrototypeOf(async () => 1).leak = 1', '(async () => 1).leak', ''],
    [
      'async generators',
      'Object.getPrototypeOf((async function* () {})()).leak = 1',
      '(async function* () {})().leak',
      '',
    ],
    [
      'iterators of matches',
      'Object.getPrototypeOf("a".matchAll(/a/g)).leak = 1',
      '"a".matchAll(/a/g).leak',
      '',
    ],
    ['iterators of maps', 'Object.getPrototypeOf(new Map().keys()).leak = 1', 'new Map().keys().leak', ''],
    [
      'iterators of texts',
      'Object.getPrototypeOf(""[Symbol.iterator]()).leak = 1',
      '""[Symbol.iterator]().leak',
      '',
    ],
    ['regular expressions', 'RegExp.prototype.test = () => true', '/a/.test("b")', 'false'],
    [
      'what regular expressions found last',
      '/(leak)/.exec("leak")',
      '`${RegExp.$1} ${RegExp.lastMatch}`',
      'undefined undefined',
    ],
    ['a registered symbol', 'Symbol.for("x").constructor.leak = 1', 'Symbol.leak', ''],
    ['errors', 'Error.prototype.name = "leak"', 'new Error("x").name', 'Error'],
    ['promises', 'Promise.resolve().then(() => { Object.prototype.leak = 1 })', '({}).leak', ''],
    [
      'the constructor of functions',
      '(() => {}).constructor("globalThis.leak = 1")()',
      'typeof leak',
      'undefined',
    ],
    [
      'the constructor of generators',
      '(function* () {}).constructor("globalThis.leak = 1")().next()',
      'typeof leak',
      'undefined',
    ],
    ['code of text', '(0, eval)("var leak = 1")', 'typeof leak', 'undefined'],
    ['its own variables', '__v0 = { leak: 1 }; arguments[0] = 1', '__v0 >= 0', 'true'],
    ['strings of templates', '((strings) => { strings.leak = 1 })`x`', '((strings) => strings.leak)`x`', ''],
    ['a function that throws what it likes', 'throw { toString() { return globalThis } }', '"fine"', 'fine'],
  ])('%s', (_what, act, look, text) => {
    const { answers, shared } = evaluateRows(third(act, look))
    expect(textsOf(answers).filter((_, n) => n !== 3)).toEqual(numbers.slice(1).map(() => text))
    expect(shared).toBeGreaterThanOrEqual(ROWS / 2)
    // The row's own result is the same as in its own context.
    expect(answers[3]).toEqual(evaluator.evaluate(ofRow(third(act, look), 3)))
  })

  it.each([
    [
      'closures that outlive a row',
      '0)}), (() => { let n = 0; return () => (n += 1) })()(), (function () { return (1',
    ],
    ['a variable beside the function', '1)}); let leak = 1; (function () { return (leak += 1'],
    ['brackets of the other kind', '1]}); globalThis.leak = 1; (function () { return [2'],
    [
      'two expressions in one comment',
      '1 /* ) */ )}); var leak = 1; (function () { return (/* ( */ leak += 1',
    ],
  ])('a text that is more than one expression never gets a realm: %s', (_what, code) => {
    const { answers, shared } = evaluateRows(code)
    expect(shared).toBe(0)
    expect(new Set(textsOf(answers)).size).toBe(1)
  })

  it('an expression may change what it finds, as long as no other row sees it', () => {
    const own =
      '(() => { const own = {}; own.toString = () => "mine"; own.constructor = __v0; return `${own}${own.constructor}` })()'
    expect(textsOf(evaluateRows(own).answers)).toEqual(numbers.map((n) => `mine${n}`))
    const patched =
      '(() => { Array.prototype.last = function () { return this.at(-1) }; return [1, __v0].last() })()'
    expect(textsOf(evaluateRows(patched).answers)).toEqual(numbers.map(String))
    const made = 'new Function("n", "return n * 2")(__v0) + (0, eval)("1 + 1")'
    expect(textsOf(evaluateRows(made).answers)).toEqual(numbers.map((n) => String(n * 2 + 2)))
    const caught = '(() => { try { return eval("__v0 + 1") } catch { return "caught" } })()'
    expect(textsOf(evaluateRows(caught).answers)).toEqual(numbers.map((n) => String(n + 1)))
  })
})

describe('a row that ends its call does not harm the other rows', () => {
  const pool = createSandbox({ workers: 1 })
  afterAll(() => pool.close())

  async function expectOnlyTheThird(sandbox: SandboxPool, act: string, words: string): Promise<void> {
    const code = third(act, '__v0 * 2')
    const evaluate = (n: number) => sandbox.of('an organisation').evaluate(code, [n], { timeoutMs: 200 })
    const answers = textsOf(await Promise.all(numbers.map(evaluate)))
    expect(answers[3]).toMatch(new RegExp(words))
    expect(answers.filter((_, n) => n !== 3)).toEqual(
      numbers.flatMap((n) => (n === 3 ? [] : [String(n * 2)])),
    )
  }

  it.each([
    ['an endless loop', 'for (;;) {}', 'took more than 200 ms'],
    ['one that catches what ends it', 'for (;;) { try { for (;;) {} } catch {} }', 'took more than 200 ms'],
    ['a text that is too big', '"x".repeat(100_000_000)', 'needs more than 16 MB'],
    ['a list without end', 'const a = []; for (;;) a.push(new Array(5000).fill(1))', '(16 MB|200 ms)'],
    ['calls without end', '(function f() { return f() + 1 })()', 'calls itself too deep'],
  ])('%s in row 3 of 64', (_what, act, words) => expectOnlyTheThird(pool, act, words))

  it('what cannot be interrupted in row 3 of 64', async () => {
    const strict = createSandbox({ workers: 1, graceMs: 1000 })
    try {
      await expectOnlyTheThird(strict, '"a".repeat(2e6).indexOf("a".repeat(1e6) + "b")', 'did not finish')
    } finally {
      await strict.close()
    }
  })

  it('organisations never share a realm, even for the same expression', async () => {
    const code = third('globalThis.leak = 1', 'typeof leak')
    const evaluate = (owner: string) => Promise.all(numbers.map((n) => pool.of(owner).evaluate(code, [n])))
    for (const answers of await Promise.all([evaluate('one'), evaluate('other')]))
      expect(textsOf(answers).filter((_, n) => n !== 3)).toEqual(numbers.slice(1).map(() => 'undefined'))
  })
})
