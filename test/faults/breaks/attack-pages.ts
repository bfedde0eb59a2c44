import { pickFrom, type Random } from './worst-shapes.ts'

const TAGS = (
  'a abbr address article aside audio b base blockquote body br button caption center cite code col colgroup dd details div dl dt em ' +
  'fieldset figure font footer form frame frameset h1 h2 h6 head header hr html i iframe img input label legend li link main map math ' +
  'menu meta mi nav nobr noframes noscript object ol optgroup option p param plaintext pre rp rt ruby s script section select small ' +
  'source span strong style sub sup svg table tbody td template textarea tfoot th thead time title tr u ul var video wbr xmp'
).split(' ')
const ATTRIBUTES = (
  'id class href src style itemscope itemprop itemtype itemref rel name content property lang dir datetime charset http-equiv ' +
  'role aria-label data-a onclick hidden colspan rowspan type value alt title xmlns xlink:href'
).split(' ')
const VALUES = [
  'name address telephone',
  'https://schema.org/Organization',
  'mailto:a@b.example?',
  'tel:+49 30 ',
  'display:none;',
  'og:description',
  'javascript:',
  '/about/../',
  '//a.example/',
  '99999',
  'application/ld+json',
  '&quot;&#x41;&notit;',
  'data:text/html;base64,PGI+',
  '\u0301\u0323',
]
const TEXTS = [
  'Acme GmbH, 10115 Berlin, Germany ',
  'info [at] acme (dot) example ',
  '+49 (0)30 123 456-78 ',
  '&amp;&copy;&#0;&#xD800;&bogus ',
  '<!-- - -- --!> -->',
  '<![CDATA[ ]]>',
  '<?xml ?>',
  '{"@type":"Organization","name":"',
  '\u0301\u0323',
  '\u202e\u200d',
  '[a](b) *_`',
  '   \n\t',
  '© 2026 ',
  '</',
  '<',
  '"',
  'x',
]
const LONGEST = 1500 * 1024

/** Generates pages of random tags, attributes and texts, where few random choices are repeated very often. */
export function* attackPages(count: number, random: Random): Generator<[string, string]> {
  for (let n = 0; n < count; n += 1) {
    const size = Math.floor(2000 * 1.07 ** (random() * 100))
    const parts: string[] = []
    let bytes = 0
    while (bytes < Math.min(LONGEST, size)) {
      const piece = makePiece(random)
      const repeated = piece.repeat(1 + Math.floor((random() ** 4 * (size - bytes)) / piece.length))
      parts.push(repeated)
      bytes += repeated.length
    }
    yield [`page ${n} of ${bytes} characters`, parts.join('')]
  }
}

function makePiece(random: Random): string {
  const tag = pickFrom(TAGS, random)
  const attributes = Array.from({ length: Math.floor(random() ** 3 * 12) }, () => makeAttribute(random)).join(
    '',
  )
  const text = pickFrom(TEXTS, random).repeat(1 + Math.floor(random() ** 6 * 400))
  const closes = random()
  if (closes < 0.15) return text
  if (closes < 0.45) return `<${tag}${attributes}>${text}`
  if (closes < 0.5) return `<${tag}${attributes}`
  if (closes < 0.6) return `</${tag}>${text}`
  return `<${tag}${attributes}>${text}</${random() < 0.2 ? pickFrom(TAGS, random) : tag}>`
}

function makeAttribute(random: Random): string {
  const value = pickFrom(VALUES, random).repeat(1 + Math.floor(random() ** 8 * 3000))
  const quote = pickFrom(['"', '"', "'", ''], random)
  return ` ${pickFrom(ATTRIBUTES, random)}=${quote}${value}${quote}`
}

/** Generates robots.txt files, feeds and sitemaps of random lines. */
export function* attackLines(count: number, random: Random): Generator<[string, string]> {
  const lines = [
    'User-agent: *',
    'user-agent:loam',
    'Disallow: /',
    'Allow: /*a*b*c$',
    'Disallow: *$*$',
    'Crawl-delay: 1e9',
    'Sitemap: ORIGIN/sitemap.xml',
    '#',
    '﻿',
    ':',
    'Disallow: /%2F%',
    'Disallow: /̣́',
    '\0',
    '<url><loc>ORIGIN/about',
    '</loc></url>',
    '<item><link>http://a/',
    '<pubDate>2026-11-01',
    '<title>&amp;&#0;',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE a [<!ENTITY b "&b;&b;">',
    '&b;',
    '<a:b xmlns:a="',
    '">',
    '<entry>',
    '<sitemap>',
    '<link href="/',
    '?utm_1&utm_2',
    '////',
    '</item>',
    '<urlset>',
    '<rss><channel>',
    '<feed>',
    '<dc:date>1',
  ]
  for (let n = 0; n < count; n += 1) {
    const size = Math.floor(2000 * 1.07 ** (random() * 100))
    let text = pickFrom(
      ['', '<rss><channel>', '<urlset>', 'User-agent: *\n', '<?xml version="1.0"?><feed>'],
      random,
    )
    while (text.length < Math.min(LONGEST, size)) {
      const line = `${pickFrom(lines, random)}${random() < 0.6 ? '\n' : ''}`
      text += line.repeat(1 + Math.floor((random() ** 4 * (size - text.length)) / line.length))
    }
    yield [`lines ${n} of ${text.length} characters`, text]
  }
}
