const KB = 1024

export type Random = () => number

export function pickFrom<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

/** Generates robots.txt files that are slow to read or to match. */
export function* worstRobots(): Generator<[string, string]> {
  const lines = (count: number, line: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => line(n)).join('\n')
  yield [
    '20,000 agents, 25,000 rules',
    `${lines(20_000, () => 'User-agent: *')}\n${lines(25_000, (n) => `Disallow: /${n}`)}`,
  ]
  for (const count of [5_000, 60_000]) {
    yield [`${count} agents`, `${lines(count, (n) => `User-agent: a${n}`)}\nDisallow: /x`]
    yield [`${count} groups`, lines(count, (n) => `User-agent: a${n}\nDisallow: /${n}`)]
    yield [`${count} groups of ours`, lines(count, (n) => `User-agent: *\nDisallow: /p${n}\n`)]
    yield [`${count} rules`, `User-agent: *\n${lines(count, (n) => `Disallow: /a${n}$`)}`]
    yield [`${count} sitemaps`, lines(count, (n) => `Sitemap: http://x/${n}`)]
    yield [`${count} colons`, lines(count, () => ': : :')]
  }
  for (const length of [100, 2_000, 100_000]) {
    for (const part of ['*a', '*', '**$', '/*', '*/page', 'a*a', '%2a', 'a', '$']) {
      const rule = `/${part.repeat(length / part.length)}`
      yield [`a rule of ${part} to ${length}`, `User-agent: *\nDisallow: ${rule}`]
    }
  }
  yield ['many rules of stars', `User-agent: *\n${lines(5_000, (n) => `Disallow: /${'*p'.repeat(40)}${n}`)}`]
  yield ['one line', `User-agent: ${'x'.repeat(900 * KB)}`]
  yield ['line ends', '\r\n'.repeat(400 * KB)]
  yield ['blanks', `User-agent:${' '.repeat(800 * KB)}*`]
  yield ['hashes', '#'.repeat(900 * KB)]
  yield ['NUL', '\0'.repeat(900 * KB)]
}

/** Generates feeds and sitemaps. */
export function* worstXml(): Generator<[string, string]> {
  const entity = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, n) => `<!ENTITY ${String.fromCharCode(98 + n)} "${`&${String.fromCharCode(97 + n)};`.repeat(10)}">`).join('')}]>`
  const urls = (count: number) =>
    Array.from({ length: count }, (_, n) => `<url><loc>ORIGIN/about${n}</loc></url>`).join('')
  for (const size of [1_000, 20_000]) {
    yield [`${size} addresses`, `<urlset>${urls(size)}</urlset>`]
    yield [
      `${size} maps`,
      `<sitemapindex>${'<sitemap><loc>ORIGIN/sitemap.xml</loc></sitemap>'.repeat(size)}</sitemapindex>`,
    ]
    yield [`${size} nested`, '<url>'.repeat(size)]
    yield [
      `${size} items`,
      `<rss><channel>${'<item><title>x</title><link>ORIGIN/a</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>'.repeat(size)}</channel></rss>`,
    ]
    yield [
      `${size} namespaces`,
      `<feed ${Array.from({ length: size }, (_, n) => `xmlns:a${n}="u${n}"`).join(' ')}></feed>`,
    ]
    yield [
      `${size} sections`,
      `<rss><channel><item><title>${'<![CDATA[x]]>'.repeat(size)}</title></item></channel></rss>`,
    ]
    yield [`${size} instructions`, `${'<?x y?>'.repeat(size)}<rss/>`]
    yield [`${size} comments`, `<rss>${'<!---->'.repeat(size)}</rss>`]
    yield [
      `${size} dates`,
      `<rss><channel>${'<item><pubDate>99999999999 Foo 0000 </pubDate></item>'.repeat(size)}</channel></rss>`,
    ]
  }
  yield ['entities', `${entity}<rss><channel><item><title>&j;</title></item></channel></rss>`]
  yield ['one open text', `<rss>${'x'.repeat(2_900 * KB)}`]
  yield ['open sections', '<![CDATA['.repeat(200 * KB)]
}

/** Generates PDF files with one page of this content. */
export function* worstPdfs(random: Random): Generator<[string, string]> {
  const page = (content: string, more = '') => {
    const objects = [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${'3 0 R '.repeat(more === 'pages' ? 20_000 : 1)}] /Count ${more === 'pages' ? 20_000 : 1} >>`,
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]
    let body = '%PDF-1.4\n'
    const offsets = objects.map((object, n) => {
      const at = body.length
      body += `${n + 1} 0 obj\n${object}\nendobj\n`
      return at
    })
    const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n `).join('\n')
    return `${body}xref\n0 6\n0000000000 65535 f \n${table}\ntrailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF`
  }
  const text = (inner: string) => `BT /F1 12 Tf 72 720 Td ${inner} ET`
  for (const size of [50 * KB, 1_500 * KB, 8_000 * KB]) {
    yield [`short texts, ${size / KB} KB`, page(text('(x) Tj '.repeat(size / 7)))]
    yield [`one text, ${size / KB} KB`, page(text(`(${'x'.repeat(size)}) Tj`))]
    yield [`lines, ${size / KB} KB`, page(text('(x) Tj 0 -1 Td '.repeat(size / 15)))]
    yield [`arrays, ${size / KB} KB`, page(text(`${'['.repeat(size / 2)}${']'.repeat(size / 2)} TJ`))]
    yield [`states, ${size / KB} KB`, page('q '.repeat(size / 2))]
    yield [`open texts, ${size / KB} KB`, page(text('('.repeat(size)))]
    yield [`paths, ${size / KB} KB`, page('0 0 m 1 1 l '.repeat(size / 12))]
    yield [`numbers, ${size / KB} KB`, page('9'.repeat(size))]
    yield [`dictionaries, ${size / KB} KB`, page('<< /a '.repeat(size / 6))]
    yield [
      `noise, ${size / KB} KB`,
      page(Array.from({ length: size / 10 }, () => Math.floor(random() * 1e9)).join(' ')),
    ]
  }
  yield ['pages', page(text('(x) Tj '.repeat(100)), 'pages')]
  yield ['no table', page(text('(x) Tj')).replace(/xref[^]*/, '1 0 obj '.repeat(100_000))]
}

/** Generates JSON bodies of servers. */
export function* worstJson(): Generator<[string, string]> {
  for (const size of [60 * KB, 900 * KB, 7_000 * KB]) {
    const say = (what: string) => `${what}, ${size / KB} KB`
    yield [say('numbers'), `[${'1,'.repeat(size / 2)}1]`]
    yield [say('objects'), `[${'{"a":1},'.repeat(size / 8)}{}]`]
    yield [say('nested'), `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`]
    yield [say('nested to 60'), `[${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(size / 121)}1]`]
    yield [say('a number'), `[${'9'.repeat(size)}]`]
    yield [say('a text'), JSON.stringify('x'.repeat(size))]
    yield [say('escapes'), `"${'\\u0041'.repeat(size / 6)}"`]
    yield [say('keys'), `{${Array.from({ length: size / 14 }, (_, n) => `"k${n}":1`).join(',')}}`]
    yield [
      say('keys of one hash'),
      `{${Array.from({ length: size / 14 }, (_, n) => `"${n * 65_536}":1`).join(',')}}`,
    ]
    yield [say('prototypes'), `{${'"__proto__":{"a":1},'.repeat(size / 20)}"a":1}`]
    yield [say('blanks'), `[${' '.repeat(size)}1]`]
    yield [say('open'), `{"a":"${'x'.repeat(size)}`]
  }
}

/** Generates pairs of a text and the text to search in it. */
export function* worstSearches(): Generator<[string, { text: string; find: string }]> {
  for (const [text, find] of [
    [900 * KB, 24 * KB],
    [900 * KB, 990],
    [200 * KB, 100 * KB],
  ] as const) {
    const say = (what: string) => `${what}, ${find} in ${text / KB} KB`
    yield [say('a and b'), { text: 'a'.repeat(text), find: `${'a'.repeat(find - 1)}b` }]
    yield [say('b and a'), { text: 'a'.repeat(text), find: `b${'a'.repeat(find - 1)}` }]
    yield [
      say('b in the middle'),
      { text: 'a'.repeat(text), find: `${'a'.repeat(find / 2)}b${'a'.repeat(find / 2 - 1)}` },
    ]
    yield [say('pairs'), { text: 'ab'.repeat(text / 2), find: `${'ab'.repeat(find / 2 - 1)}aa` }]
    yield [
      say('long periods'),
      {
        text: `${'a'.repeat(500)}b`.repeat(text / 501),
        find: `${`${'a'.repeat(500)}b`.repeat(Math.max(1, find / 501 - 1))}aa`,
      },
    ]
    yield [say('wide letters'), { text: 'ä'.repeat(text / 2), find: `${'ä'.repeat(find / 2 - 1)}ö` }]
    yield [say('capitals'), { text: 'A'.repeat(text), find: `${'a'.repeat(find - 1)}b` }]
    yield [say('letters that grow'), { text: 'İ'.repeat(text / 4), find: `${'i̇'.repeat(find / 8)}x` }]
  }
}

/**
 * Generates formulas: those that found memory faults of engines, those that take much time or memory, those
 * that explore the sandbox.
 */
export function* worstFormulas(): Generator<[string, string]> {
  const GC = 'for (let i = 0; i < 2000; i++) { new Array(500).fill({}) }'
  const LISTS = [
    '[1,2,3]',
    'new Array(1e5).fill("x")',
    'new Array(4294967)',
    '[,,1,,]',
    'new Uint8Array(1e5)',
    'Object.assign([], {length: 1e6})',
  ]
  for (const list of LISTS) {
    for (const method of [
      'toReversed()',
      'toSorted((a, b) => { throw 1 })',
      'toSorted(() => { GC; return 0 })',
      'toSpliced(0, 1)',
      'toSpliced(0, 0, ...new Array(100))',
      'with(0, { valueOf() { GC } })',
      'fill(7)',
      'slice(-1)',
      'at(-1)',
      'copyWithin?.(0, 5)',
    ]) {
      yield [
        `${method} of ${list}`,
        `(() => { let a = ${list}; let out; try { out = a.${method.replace('GC', GC)} } catch (e) { out = e } ${GC}; return JSON.stringify(out).slice(0, 2000) })()`,
      ]
    }
  }
  const getters = ['0', 'length', 'constructor', 'Symbol.iterator', 'Symbol.species']
  for (const name of getters) {
    for (const method of ['toReversed', 'toSorted', 'toSpliced', 'concat', 'splice', 'flat', 'sort', 'map']) {
      const key = name.startsWith('Symbol') ? name : `'${name}'`
      yield [
        `${method} with a getter of ${name}`,
        `(() => { const a = new Array(5000).fill(1); Object.defineProperty(a, ${key}, { get() { a.length = 0; ${GC} return ${name === 'length' ? '1e6' : '1'} }, configurable: true }); let out; try { out = Array.prototype.${method}.call(a, 1) } catch (e) { out = String(e) } ${GC}; return String(JSON.stringify(out)).slice(0, 2000) })()`,
      ]
    }
  }
  yield* Object.entries({
    'a proxy whose length changes': `(() => { let n = 0; const p = new Proxy([1,2,3], { get(t, k) { if (k === 'length') return n++ ? 1e6 : 3; return t[k] } }); try { return JSON.stringify(Array.prototype.toReversed.call(p)).length } catch (e) { return String(e) } })()`,
    'regular expressions': `/(a+)+$/.test('a'.repeat(60) + 'b')`,
    'a regular expression without end': `/(?:(?=(a*))\\1)*b/.test('a'.repeat(1e6))`,
    'texts without end': `(() => { let s = 'x'; for (;;) s += s })()`,
    'lists without end': `(() => { const a = []; for (;;) a.push(new Array(1000)) })()`,
    'maps without end': `(() => { const m = new Map(); for (let i = 0;; i++) m.set(i, {}) })()`,
    'a loop': `for (;;) {}`,
    'calls without end': `(function f() { return f() + 1 })()`,
    'numbers without end': `(() => { let n = 2n; for (;;) n *= n })()`,
    'a power': `(2n ** 100000000n).toString().length`,
    'a search': `'a'.repeat(2e6).indexOf('a'.repeat(1e6) + 'b')`,
    'a sort': `new Array(3e5).fill(0).map((_, i) => i % 7).sort(() => 0.5 - Math.random()).length`,
    'a deep JSON': `JSON.parse('['.repeat(1e5))`,
    'a deep object': `(() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return JSON.stringify(o) })()`,
    'a process': `typeof process + typeof require + typeof fetch + typeof WebAssembly + typeof SharedArrayBuffer`,
    'a constructor': `[].constructor.constructor('return typeof process')()`,
    'a generator': `(function* () {}).constructor('return 1')().next().value`,
    'promises without end': `(() => { const f = () => Promise.resolve().then(f); f(); return 1 })()`,
    finalisation: `(() => { try { new FinalizationRegistry(() => {}).register({}, 1) } catch (e) { return String(e) } ${GC}; return 1 })()`,
    'weak references': `(() => { try { return typeof new WeakRef({}).deref() } catch (e) { return String(e) } })()`,
    'a date': `new Date(8.64e15 + 1).toString() + Date.parse('9'.repeat(1e6))`,
    'a normal form': `'\\u0041\\u030a'.repeat(5e5).normalize('NFC').length`,
    'a replacement': `'x'.repeat(1e6).replaceAll('x', '$&$&$&').length`,
    'a label': `'a'.repeat(3e6).split('').length`,
  })
}
