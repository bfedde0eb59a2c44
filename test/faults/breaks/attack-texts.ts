const KB = 1024

/** Parts that regular expressions and parsers go through again and again when they are repeated. */
const PARTS: Record<string, string> = {
  blanks: ' ',
  'line ends': '\n',
  'hard blanks': '\u00a0',
  dots: '.',
  slashes: '/',
  'at signs': 'a@',
  commas: ', ',
  colons: ':',
  semicolons: '; ',
  equals: 'a=',
  ampersands: '&a',
  dashes: 'a-',
  plus: '+1 (',
  digits: '1',
  exponents: '1e1',
  zeros: '0.',
  letters: 'a',
  'small and capital': 'aA',
  underscores: '_',
  stars: '*_',
  brackets: '[](',
  'open brackets': '[',
  'open braces': '{',
  'double braces': '{{input.',
  'open tags': '<think>',
  'closed tags': '<a></a>',
  comments: '<!--',
  fences: '```\n',
  quotes: '"',
  'single quotes': "'",
  backslashes: '\\',
  dollars: '$&',
  percent: '%2',
  questions: '?\n',
  hashes: '#a',
  marks: '\u0301\u0323',
  'Hangul letters': '\u1100\u1161\u11a8',
  ideographs: '\u4e00\u9f8d',
  'dotted capitals': '\u0130',
  ligatures: '\ufdfa',
  'zero width': '\u200d\u2060',
  'right to left': '\u202e\u05d0',
  'halves of pairs': '\ud83d',
  NUL: '\0',
  'punycode labels': 'xn--a.',
  'addresses of pages': 'http://a.example/ ',
  times: '2026-01-01T00:00:00Z ',
}

/** The beginnings and ends between which the parts are repeated: the end keeps a match from succeeding. */
const FRAMES: [what: string, before: string, after: string][] = [
  ['', '', ''],
  ['to !', '', '!'],
  ['from a@', 'a@', ' x'],
  ['from http', 'http://a.example/', '\nx'],
  ['in quotes', '["', '"]'],
]

/** Generates texts of this many bytes or a little more. */
export function* attackTexts(bytes: number): Generator<[string, string]> {
  for (const [name, part] of Object.entries(PARTS)) {
    for (const [frame, before, after] of FRAMES) {
      const repeated = part.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(part))))
      yield [`${name} ${frame}, ${Math.round(bytes / KB)} KB`, `${before}${repeated}${after}`]
    }
  }
}

/** Generates JSON answers of a server that later actions read: lists and objects of this many values. */
export function* attackAnswers(values: number): Generator<[string, string]> {
  const many = (count: number, item: (n: number) => string) =>
    Array.from({ length: Math.floor(count) }, (_, n) => item(n)).join(',')
  yield ['numbers', `[${many(values, String)}]`]
  yield ['long numbers', `[${many(values / 2, (n) => `${'1'.repeat(20)}${n}`)}]`]
  yield ['texts', `[${many(values, (n) => `"text ${n}"`)}]`]
  yield ['numeric texts', `[${many(values, (n) => `"${n}.50"`)}]`]
  yield ['objects', `[${many(values / 4, (n) => `{"a":${n},"b":"x${n}","c":null}`)}]`]
  yield ['odd names', `[${many(values / 4, (n) => `{" a {b}":${n},"c ":1,"${n % 900}":2}`)}]`]
  yield ['lists', `[${many(values / 4, (n) => `[${n},[2],{}]`)}]`]
  yield ['long texts', `[${many(90, (n) => `"${String(n).repeat(40_000)}"`)}]`]
  yield ['marks', `["a${'\u0301\u0323'.repeat(values)}"]`]
  yield ['escapes', `["${'\\u0000\\ud800'.repeat(values)}"]`]
  yield ['lines of JSON', many(values / 4, (n) => `{"a":${n}}`).replaceAll('},{', '}\n{')]
  yield ['wide', `[{${many(values / 7, (n) => `"key ${n}":${n}`)}}]`]
  yield ['few levels', `{"items":[${many(values / 10, () => '[[[[[[[[[]]]]]]]]]')}]}`]
}

/** Generates formulas over engine parts that the other fault programs leave out. */
export function* attackFormulas(): Generator<[string, string]> {
  const churn = 'for (let i = 0; i < 3000; i++) { new Array(300).fill([]) }'
  const run = (code: string) =>
    `(() => { let out; try { out = (() => { ${code} })() } catch (e) { out = String(e) } ${churn} return String(JSON.stringify(out)).slice(0, 1000) })()`
  for (const kind of ['Int8Array', 'Uint8ClampedArray', 'Uint32Array', 'Float64Array', 'BigInt64Array']) {
    const one = kind.startsWith('Big') ? '1n' : '1'
    yield [`${kind} toReversed`, run(`const a = new ${kind}(5e4); return a.toReversed().length`)]
    yield [
      `${kind} sort shrinks`,
      run(
        `const b = new ArrayBuffer(800, { maxByteLength: 8000 }); const a = new ${kind}(b); return a.sort(() => { b.resize(8); ${churn} return 1 }).length`,
      ),
    ]
    yield [
      `${kind} set`,
      run(
        `const a = new ${kind}(100); a.set({ length: 100, get 0() { structuredClone?.(a.buffer, { transfer: [a.buffer] }); return ${one} } }); return a[50]`,
      ),
    ]
    yield [
      `${kind} subarray`,
      run(
        `class A extends ${kind} { static get [Symbol.species]() { return function (n) { return new Uint8Array(1) } } } return new A(100).subarray(0, 99).length`,
      ),
    ]
    yield [`${kind} huge`, run(`return new ${kind}(2 ** 31).length`)]
    yield [`${kind} outside`, run(`const a = new ${kind}(4); a[2 ** 32] = ${one}; return a.at(-1e9)`)]
    yield [
      `${kind} slice resizes`,
      run(
        `const b = new ArrayBuffer(80000, { maxByteLength: 80000 }); const a = new ${kind}(b); return a.slice(0, { valueOf() { b.resize(8); ${churn} return 9999 } }).length`,
      ),
    ]
    yield [
      `${kind} fill`,
      run(`const a = new ${kind}(1e4); return a.fill({ valueOf() { ${churn} return ${one} } })[1]`),
    ]
  }
  for (const trap of [
    'get',
    'set',
    'has',
    'ownKeys',
    'getOwnPropertyDescriptor',
    'deleteProperty',
    'getPrototypeOf',
  ]) {
    for (const use of [
      'JSON.stringify(p)',
      'Object.assign({}, p)',
      '[...p]',
      'p.sort()',
      'Array.from(p)',
      '({ ...p })',
      'structuredClone(p)',
      'delete p[0]',
    ]) {
      yield [
        `proxy ${trap}, ${use}`,
        run(
          `const t = [3, 1, 2]; const p = new Proxy(t, { ${trap}(...a) { t.length = 0; ${churn} return Reflect.${trap}(...a) } }); return ${use}`,
        ),
      ]
    }
  }
  yield* Object.entries({
    'a generator that returns itself': run('function* g() { yield* it } const it = g(); return [...it]'),
    'a generator in its own finally': run(
      'function* g() { try { yield 1 } finally { it.return(2) } } const it = g(); it.next(); return it.return(1)',
    ),
    'generators nested': run(
      'function* g(n) { if (n) yield* g(n - 1); yield n } return [...g(20000)].length',
    ),
    'an async generator': run('(async function* () { for (;;) yield 1 })().next(); return 1'),
    'JSON with a reviver': run(
      'return JSON.parse("[1,2,3]", function (k) { this.length = 0; this.x = this; return this })',
    ),
    'JSON with toJSON': run('return JSON.stringify({ toJSON() { return { toJSON: this.toJSON } } })'),
    'JSON with a long indent': run('return JSON.stringify(new Array(1e5).fill([]), null, 10).length'),
    'a text of half a gigabyte': run('return "x".repeat(2 ** 29).length'),
    'padded texts': run('return "x".padEnd(2 ** 30, "ab").length'),
    'joined texts': run('return new Array(2 ** 20).join("x".repeat(2 ** 12)).length'),
    'a list joined to itself': run(
      'const a = []; for (let i = 0; i < 26; i++) a.push([a, a]); return String(a).length',
    ),
    'flat of itself': run('const a = [1]; a.push(a); return a.flat(Infinity).length'),
    'flat doubled': run('let a = [1]; for (let i = 0; i < 30; i++) a = [a, a]; return a.flat(40).length'),
    'a label of a regular expression': run('return /^(([a-z])+.)+[A-Z]([a-z])+$/.test("a".repeat(5e4))'),
    'named groups': run(
      'return new RegExp(Array.from({ length: 300 }, (_, n) => `(?<g${n}>a*)`).join("") + "$").exec("a".repeat(5e3)) === null',
    ),
    'repeated repeats': run('return /(?:(?:(?:a{0,1000}){0,1000}){0,1000})b/.test("a".repeat(40))'),
    'a look behind': run('return /(?<=(a+)+)b/.test("a".repeat(3e4))'),
    'classes of Unicode': run('return /[\\p{L}--[a-z]]+$/v.test("ä".repeat(1e5))'),
    'exec while compiling': run(
      'const r = /a/g; r.lastIndex = { valueOf() { r.compile("b".repeat(1e5)); return 0 } }; return r.exec("aaa")',
    ),
    'replace that replaces': run(
      'let n = 0; return "a".repeat(3e4).replace(/a/g, function f(m) { return n++ < 5 ? "a".repeat(3e4).replace(/a/g, f) : m }).length',
    ),
    'split by all': run('return "a".repeat(1e6).split(/(?:)/).length'),
    'a map in its own loop': run(
      'const m = new Map([[0, 0]]); for (const [k] of m) { m.delete(k); m.set(k + 1, 0); if (k > 2e5) break } return m.size',
    ),
    'a set in its own loop': run(
      'const s = new Set([0]); for (const k of s) { s.clear(); s.add(k + 1); if (k > 2e5) break } return s.size',
    ),
    'group by': run(
      'return Object.keys(Object.groupBy(new Array(1e5).fill(0).map((_, n) => n), (n) => { return n })).length',
    ),
    'weak maps': run(
      'const w = new WeakMap(); let k = {}; for (let i = 0; i < 1e5; i++) { const n = {}; w.set(n, k); k = n } return 1',
    ),
    'a class with itself': run(
      'class A extends (class { constructor() { return new Proxy(this, {}) } }) {} for (let i = 0; i < 1e4; i++) new A(); return 1',
    ),
    'functions of functions': run(
      'let f = () => 1; for (let i = 0; i < 2e5; i++) f = f.bind(null, i); return f()',
    ),
    'arguments without end': run('return Math.max(...new Array(1e6).fill(1))'),
    'apply without end': run('return String.fromCharCode.apply(null, { length: 1e7 }).length'),
    'a constructor of functions': run('return new Function("return this")().constructor.name'),
    'another constructor': run(
      'return Object.getPrototypeOf(async function () {}).constructor("return 1")().constructor.name',
    ),
    'an import': run('return import("node:fs").then(() => 1), 1'),
    'the global names': run(
      'return Object.getOwnPropertyNames(globalThis).filter((n) => /process|require|fetch|std|os|bjson|Deno|read|load|print/i.test(n))',
    ),
    'prototypes changed': run(
      'Array.prototype.map = () => "changed"; Object.prototype.x = 1; return [].map(() => 0)',
    ),
    'then changed': run('Object.prototype.then = function (f) { f("changed") }; return 1'),
    'errors with stacks': run(
      'Error.prepareStackTrace = (e, s) => { for (;;) s.push(s) }; Error.stackTraceLimit = 1e9; return new Error("x").stack.length',
    ),
    'an error of errors': run(
      'let e = new Error(); for (let i = 0; i < 1e5; i++) e = new Error("x", { cause: e }); throw e',
    ),
    'dates without end': run('return new Date(1e300).toISOString()'),
    localised: run(
      'return (1e21).toLocaleString() + "ä".localeCompare("a".repeat(1e6)) + new Date(0).toLocaleString()',
    ),
    'marks normalised': run('return ("a" + "\\u0301\\u0323".repeat(2e5)).normalize("NFKD").length'),
    'big divisions': run('return String((2n ** 400000n) / (3n ** 100000n)).length'),
    'big shifts': run('return String(1n << 40000000n).length'),
    atomics: run('return Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 1e9)'),
    'evaluations nested': run(
      'let s = "1"; for (let i = 0; i < 12; i++) s = `eval(${JSON.stringify(s)})`; return eval(s)',
    ),
    'a source of a megabyte': run('return eval("1" + "+1".repeat(3e5))'),
    'brackets of source': run('return eval("(".repeat(5e4) + ")".repeat(5e4))'),
    'templates nested': run('return eval("`${".repeat(2e4) + "1" + "}`".repeat(2e4))'),
    'labels of source': run(
      'return eval("a:".repeat(1) + "for(;;){break a}" + "{".repeat(3e4) + "}".repeat(3e4))',
    ),
    'getters on the list': run(
      'Object.defineProperty(Object.prototype, "0", { get() { for (;;); }, configurable: true }); return [,].sort()',
    ),
    'defined lengths': run(
      'const a = [1, 2, 3]; Object.defineProperty(a, "length", { writable: false }); return a.toSpliced?.(0, 1, ...a) ?? a.splice(0, 1)',
    ),
    'holes to spliced': run(
      'const a = new Array(2 ** 31); return a.toSpliced?.(0, 2 ** 31 - 1).length ?? a.length',
    ),
  })
}
