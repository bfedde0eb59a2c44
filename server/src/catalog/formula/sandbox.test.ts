import { afterAll, describe, expect, it } from 'vitest'
import { createSandbox } from './sandbox.ts'

const sandbox = createSandbox()
afterAll(() => sandbox.close())

async function evaluate(code: string, ...values: unknown[]): Promise<string> {
  const answer = await sandbox.of('a test').evaluate(code, values)
  return answer.ok ? answer.text : `failed: ${answer.message}`
}

describe('the result of an expression', () => {
  it.each([
    ['"text"', 'text'],
    ['1 + 1', '2'],
    ['0.1 + 0.2', '0.30000000000000004'],
    ['10n ** 20n', '100000000000000000000'],
    ['NaN', 'NaN'],
    ['false', 'false'],
    ['[1, undefined, null]', '[1,null,null]'],
    ['({ a: [{}] })', '{"a":[{}]}'],
    ['({ toJSON() {} })', ''],
    ['new Date(0)', '"1970-01-01T00:00:00.000Z"'],
    ['new Set([1]).size', '1'],
    ['"ÄÖ".toLowerCase() + "e\\u0301".normalize()', 'äöé'],
    ['"😀".length + "\\u{1F600}"', '2😀'],
    ['1 // the end', '1'],
    ['(() => 1)', 'failed: the expression gave a function'],
    ['Symbol()', 'failed: the expression gave a symbol'],
    ['(async () => 1)()', 'failed: the expression gave a promise; it cannot wait for one'],
    ['(() => { throw new Error("no") })()', 'failed: Error: no'],
    ['(() => { throw null })()', 'failed: null'],
  ])('%s', async (code, text) => expect(await evaluate(code)).toBe(text))

  it('values are bound to variables, never read as code', async () => {
    const values = [
      '"); while(1){} ("',
      '`${x}`',
      '\\',
      '\u2028',
      '\0',
      'a\0b\uD800c',
      '</script>',
      '💥',
      '__v0',
      '"'.repeat(1000),
    ]
    for (const value of values) {
      expect(await evaluate('__v0', value)).toBe(value)
      expect(await evaluate('__v1[0].x.length + __v0.length', value, [{ x: value }])).toBe(
        String(value.length * 2),
      )
    }
  })

  it('large values are accepted', async () => {
    const big = 'ä'.repeat(1_000_000)
    expect(await evaluate('__v0', big)).toBe(big)
    expect(
      await evaluate(
        '__v0.length',
        Array.from({ length: 50_000 }, (_, n) => n),
      ),
    ).toBe('50000')
  })
})

describe('an expression reaches nothing outside', () => {
  it.each([
    'fetch',
    'process',
    'require',
    'console',
    'setTimeout',
    'WebAssembly',
    'std',
    'os',
    'module',
    'Buffer',
  ])('there is no %s', async (name) => expect(await evaluate(`typeof ${name}`)).toBe('undefined'))

  it('the constructor of functions and import are no way out', async () => {
    expect(await evaluate('(() => {}).constructor("return typeof process")()')).toBe('undefined')
    expect(await evaluate('(() => { try { return import("node:fs") } catch { return 0 } })()')).toMatch(
      /^failed/,
    )
  })
})

describe('the limits of an expression', () => {
  it.each([
    ['an endless loop', '(() => { for (;;) {} })()', 'took more than 100 ms'],
    [
      'one that catches what ends it',
      '(() => { for (;;) { try { for (;;) {} } catch {} } })()',
      'took more than 100 ms',
    ],
    [
      'one in the text of an error',
      '(() => { throw { toString() { for (;;) {} } } })()',
      'took more than 100 ms',
    ],
    ['one in toJSON', '({ toJSON() { for (;;) {} } })', 'took more than 100 ms'],
    ['a regular expression without end', '/^(a+)+$/.test("a".repeat(50) + "b")', 'took more than 100 ms'],
    [
      'a list without end',
      '(() => { const a = []; for (;;) a.push(new Array(5000).fill(1)) })()',
      '(16 MB|100 ms)',
    ],
    ['a text that is too big', '"x".repeat(100_000_000)', 'needs more than 16 MB'],
    ['calls without end', '(function f() { return f() + 1 })()', 'calls itself too deep'],
    ['brackets without end', 'JSON.parse("[".repeat(1e6))', 'stack overflow'],
    ['a value that is too big', '__v0.length', 'too big'],
  ])('%s', async (_what, code, words) => {
    expect(await evaluate(code, code.includes('__v0') ? 'x'.repeat(20_000_000) : null)).toMatch(
      new RegExp(`^failed: .*${words}`),
    )
    expect(await evaluate('"alive"')).toBe('alive')
  })

  it('an expression that cannot be interrupted ends its worker, and the waiting ones move to another', async () => {
    const pool = createSandbox({ workers: 1, graceMs: 300 })
    const strict = pool.of('a test')
    try {
      const stuck = strict.evaluate('"a".repeat(2e6).indexOf("a".repeat(1e6) + "b")', [])
      const behind = Array.from({ length: 50 }, (_, n) => strict.evaluate('__v0 + 1', [n]))
      expect(await stuck).toEqual({ ok: false, message: 'the expression did not finish' })
      expect(await Promise.all(behind)).toEqual(behind.map((_, n) => ({ ok: true, text: String(n + 1) })))
    } finally {
      await pool.close()
    }
  })

  it('one endless loop among a thousand: the others finish', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, n) =>
        n === 500 ? evaluate('(() => { for (;;) {} })()') : evaluate('__v0 * 2', n),
      ),
    )
    expect(answers.flatMap((text, n) => (text === String(n * 2) ? [] : [`${n}: ${text}`]))).toEqual([
      '500: failed: the expression took more than 100 ms',
    ])
  })
})

describe('no expression sees what the previous one did', () => {
  const pool = createSandbox({ workers: 1 })
  const alone = pool.of('a test')
  afterAll(() => pool.close())

  it.each([
    ['a global', 'globalThis.leak = 1', 'typeof leak', 'undefined'],
    ['a global of sloppy code', '(0, eval)("var leak2 = 1; leak2")', 'typeof leak2', 'undefined'],
    ['a polluted prototype', 'Object.prototype.leak = 1', '({}).leak', ''],
    ['a method of lists', '(Array.prototype.map = () => "x", 1)', '[1].map((n) => n + 1)', '[2]'],
    ['what takes the place of JSON and String', '(JSON.stringify = String = () => [], 1)', 'String(1)', '1'],
    ['JSON', '(JSON.parse = JSON.stringify = () => "x", 1)', 'JSON.stringify(JSON.parse("[1]"))', '[1]'],
    [
      'the prototype of generators',
      '(Object.getPrototypeOf(function* () {}).leak = 1)',
      '(function* () {}).leak',
      '',
    ],
    [
      'the prototype of iterators',
      '(Object.getPrototypeOf([].values()).next = 1)',
      'typeof [].values().next',
      'function',
    ],
    ['a registered symbol', '(Symbol.for("x").constructor.leak = 1)', 'Symbol.leak', ''],
    [
      'a pending promise',
      '(Promise.resolve().then(() => { globalThis.leak3 = 1 }), 1)',
      'typeof leak3',
      'undefined',
    ],
  ])('%s', async (_what, first, second, text) => {
    expect(await alone.evaluate(first, [])).toMatchObject({ ok: true })
    expect(await alone.evaluate(second, [])).toEqual({ ok: true, text })
  })
})

it('after close every evaluation fails because the sandbox is stopping', async () => {
  const pool = createSandbox({ workers: 1 })
  const closing = pool.of('a test')
  const waiting = [closing.evaluate('1', []), closing.evaluate('(() => { for (;;) {} })()', [])]
  await new Promise((resolve) => {
    setImmediate(resolve)
  })
  await pool.close()
  const answers = await Promise.all([...waiting, closing.evaluate('2', [])])
  for (const answer of answers) expect(answer).toMatchObject({ ok: false, stopping: true })
})

describe('R16: organisations take turns', () => {
  const LOOP = '(() => { for (;;) {} })()'

  it.each([1, 2])(
    'with %d workers, 300 endless loops of one organisation delay no other',
    async (workers) => {
      const pool = createSandbox({ workers })
      try {
        const order: string[] = []
        const flood = Array.from({ length: 300 }, async (_, n) => {
          await pool.of('flood').evaluate(LOOP, [])
          order.push(`loop ${n}`)
        })
        await flood[0]
        const others = Array.from({ length: 20 }, async (_, n) => {
          order.push(`${n}: ${JSON.stringify(await pool.of('other').evaluate('__v0 + 1', [n]))}`)
        })
        await Promise.all(others)
        // Batches of the two organisations alternate. A batch of the first is one endless loop.
        const loops = order.filter((entry) => entry.startsWith('loop'))
        expect(loops.length).toBeLessThan(60)
        expect(order.filter((entry) => !entry.startsWith('loop'))).toEqual(
          expect.arrayContaining(Array.from({ length: 20 }, (_, n) => `${n}: {"ok":true,"text":"${n + 1}"}`)),
        )
        await pool.close()
        await Promise.all(flood)
      } finally {
        await pool.close()
      }
    },
  )

  it('expressions returned at the end of a slice are executed later, each of them once', async () => {
    const pool = createSandbox({ workers: 1 })
    try {
      const busy = '(() => { let n = 0; while (n < 2e5) n += 1; return __v0 })()'
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, n) => pool.of(`org ${n % 3}`).evaluate(busy, [n])),
      )
      expect(answers).toEqual(answers.map((_, n) => ({ ok: true, text: String(n) })))
    } finally {
      await pool.close()
    }
  })
})
