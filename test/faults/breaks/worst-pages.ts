import { pickFrom, type Random } from './worst-shapes.ts'

const KB = 1024

/**
 * Constructs that are slow for parsers and readers of pages, each repeated until it has about this many
 * bytes.
 */
const CONSTRUCTS: Record<string, (bytes: number, random: Random) => string> = {
  itemref: (bytes, random) => {
    const ids = Array.from({ length: 50 + Math.floor(random() * 700) }, (_, n) => `i${n}`)
    const scopes = `<div itemscope itemtype="https://schema.org/Organization" itemref="${ids.join(' ')}">`
    const items = ids.map((id) => `<i id="${id}" itemprop="name">x</i>`).join('')
    return scopes.repeat(Math.min(40, Math.max(1, bytes / 20 / KB))) + items + '<b></b>'.repeat(bytes / 14)
  },
  'nested items': (bytes) =>
    '<div itemscope itemprop=p itemtype="https://schema.org/Place">'.repeat(Math.min(250, bytes / 62)) +
    '<i itemprop=name>x</i>'.repeat(bytes / 30),
  'address lines': (bytes) => `<address>${'x<br>'.repeat(bytes / 5)}</address>`,
  addresses: (bytes) => '<address>1 Main St<br>Berlin</address>'.repeat(bytes / 40),
  'nested addresses': (bytes) =>
    '<address>1 Main St 10115 Berlin '.repeat(Math.min(bytes / 32, 250)) + 'x '.repeat(bytes / 4),
  'mail addresses': (bytes) => 'a.b+c@d-e.example '.repeat(bytes / 18),
  'at signs': (bytes) => 'a@'.repeat(bytes / 2),
  'letters before an at sign': (bytes) => `${'a'.repeat(bytes)}@`,
  'dots of a domain': (bytes) => `a@${'b.'.repeat(bytes / 2)}`,
  'obfuscated mail': (bytes) => 'a [at] b (dot) '.repeat(bytes / 15),
  'mail links': (bytes) => '<a href="mailto:a@b.example?subject=x">m</a>'.repeat(bytes / 44),
  'telephone links': (bytes) => '<a href="tel:+49 30 1234567">t</a>'.repeat(bytes / 35),
  digits: (bytes) => '+49 30 123 45 67 '.repeat(bytes / 17),
  'digits without end': (bytes) => '1'.repeat(bytes),
  'digits and dashes': (bytes) => '1-'.repeat(bytes / 2),
  'JSON-LD': (bytes) =>
    `<script type="application/ld+json">{"@graph":[${'{"@type":"Organization","name":"a","sameAs":["x"]},'.repeat(bytes / 50)}{}]}</script>`,
  'deep JSON-LD': (bytes) =>
    `<script type="application/ld+json">${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}</script>`,
  'JSON-LD blocks': (bytes) =>
    '<script type="application/ld+json">{"@type":"Person"}</script>'.repeat(bytes / 62),
  'JSON-LD with blanks': (bytes) => `<script type="application/ld+json">{${' '.repeat(bytes)}</script>`,
  'misnested formats': (bytes) => '<a><b><i><u><p>'.repeat(bytes / 15),
  fonts: (bytes) => Array.from({ length: bytes / 20 }, (_, n) => `<font size=${n}>`).join(''),
  'text in tables': (bytes) => `<table>${'x<tr><b>'.repeat(bytes / 8)}`,
  'nested tables': (bytes) => '<table><tr><td>'.repeat(bytes / 15),
  cells: (bytes) => `<table><tr>${'<td>x'.repeat(bytes / 5)}</table>`,
  'wide rows': (bytes) => `<table>${`<tr>${'<td colspan=9>a|b'.repeat(50)}`.repeat(bytes / 850)}</table>`,
  'unclosed paragraphs': (bytes) => '<p>x'.repeat(bytes / 4),
  'nested divisions': (bytes) => '<div>'.repeat(bytes / 5),
  'allowed nesting': (bytes) => `${'<div>'.repeat(240)}x${'</div>'.repeat(240)}`.repeat(bytes / 2641),
  lists: (bytes) => '<ul><li>x'.repeat(Math.min(bytes / 9, 120)) + '<li>y'.repeat(bytes / 5),
  options: (bytes) => `<select>${'<option>x'.repeat(bytes / 9)}`,
  attributes: (bytes) => `<div ${Array.from({ length: bytes / 10 }, (_, n) => `a${n}=b`).join(' ')}>x</div>`,
  'same attributes': (bytes) => `<div ${'class=b '.repeat(bytes / 8)}>x</div>`,
  'long class': (bytes) => `<div class="${'author byline '.repeat(bytes / 14)}">x</div>`,
  'long ids': (bytes) => `<p id="${'x'.repeat(bytes / 2)}">a</p><p id="${'x'.repeat(bytes / 2)}">b</p>`,
  'inline styles': (bytes) => '<p style="display:none;display:none">x'.repeat(bytes / 38),
  entities: (bytes) => '&amp;&lt;&CounterClockwiseContourIntegral;'.repeat(bytes / 40),
  'open entities': (bytes) => '&CounterClockwiseContourIntegra'.repeat(bytes / 31),
  ampersands: (bytes) => '&'.repeat(bytes),
  comments: (bytes) => '<!-- x -->'.repeat(bytes / 10),
  'open comments': (bytes) => '<!--'.repeat(bytes / 4),
  'dashes in a comment': (bytes) => `<!--${'- '.repeat(bytes / 2)}`,
  'open brackets': (bytes) => '<'.repeat(bytes),
  'open quotes': (bytes) => `<a href="${'<p>'.repeat(bytes / 3)}`,
  scripts: (bytes) => '<script>x</script>'.repeat(bytes / 18),
  'open scripts': (bytes) => '<script><!--'.repeat(bytes / 12),
  templates: (bytes) => '<template>'.repeat(bytes / 10),
  'foreign elements': (bytes) => '<svg><math><mi><p>'.repeat(bytes / 18),
  CDATA: (bytes) => `<svg>${'<![CDATA[x]]>'.repeat(bytes / 13)}`,
  links: (bytes) => Array.from({ length: bytes / 25 }, (_, n) => `<a href="/p${n}">x</a>`).join(''),
  'same links': (bytes) => '<a href="/about">About us</a>'.repeat(bytes / 29),
  'long links': (bytes) => `<a href="/${'a/../'.repeat(bytes / 5)}">x</a>`,
  'long base': (bytes) =>
    `<base href="http://x/${'a/'.repeat(bytes / 4)}">${'<a href=b>'.repeat(bytes / 20)}`,
  'social links': (bytes) => '<a href="https://linkedin.com/company/x">in</a>'.repeat(bytes / 47),
  images: (bytes) => '<img src="a.png" alt="a">'.repeat(bytes / 25),
  headings: (bytes) => '<h1>x<h2>y<h3>z'.repeat(bytes / 15),
  blanks: (bytes) => `<p>${' '.repeat(bytes)}x`,
  'line ends': (bytes) => `<pre>${'\n'.repeat(bytes)}x</pre>`,
  'hard blanks': (bytes) => `<p>${'&nbsp; '.repeat(bytes / 7)}x`,
  brackets: (bytes) => `<p>${'[]('.repeat(bytes / 3)}`,
  stars: (bytes) => `<p>${'*_'.repeat(bytes / 2)}`,
  backticks: (bytes) => `<code>${'` `` '.repeat(bytes / 5)}</code>`,
  'one long word': (bytes) => `<p>${'x'.repeat(bytes)}`,
  'copyright lines': (bytes) => `<footer>${'© 2020 Acme GmbH, '.repeat(bytes / 19)}</footer>`,
  'company names': (bytes) => `<title>${'Acme | '.repeat(bytes / 7)}</title>`,
  'meta elements': (bytes) => '<meta property="og:title" content="x">'.repeat(bytes / 38),
  'refresh elements': (bytes) => `<meta http-equiv="refresh" content="${'9'.repeat(bytes)}">`,
  'open meta': (bytes) => '<meta http-equiv=refresh '.repeat(bytes / 25),
  frames: (bytes) => '<iframe src=x></iframe>'.repeat(bytes / 23),
  emphasised: (bytes) => '<em><strong>'.repeat(Math.min(bytes / 12, 120)) + '<em>x</em>'.repeat(bytes / 10),
  emoji: (bytes) => `<p>${'👩‍👩‍👧'.repeat(bytes / 18)}`,
  'combined letters': (bytes) => `<p>a${'\u0301'.repeat(bytes / 2)}`,
  NUL: (bytes) => `<p>${'\0'.repeat(bytes)}`,
}

/** Generates pages: each construct alone at two sizes, then mixtures of three constructs. */
export function* worstPages(mixtures: number, random: Random): Generator<[string, string]> {
  const names = Object.keys(CONSTRUCTS)
  for (const [name, make] of Object.entries(CONSTRUCTS)) {
    for (const bytes of [140 * KB, 2_500 * KB]) yield [`${name}, ${bytes / KB} KB`, make(bytes, random)]
  }
  for (let n = 0; n < mixtures; n += 1) {
    const parts = Array.from({ length: 3 }, () => pickFrom(names, random))
    const html = parts.map((name) => CONSTRUCTS[name]?.(30 * KB + random() * 400 * KB, random)).join('</div>')
    yield [parts.join(' + '), html]
  }
}
