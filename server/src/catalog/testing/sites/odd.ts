import { gzipSync } from 'node:zlib'
import { encodeAs, type Site } from '../site-server.ts'

const JAPANESE = (charset: string) =>
  `<html lang="ja"><head>${charset}<title>株式会社山田製作所</title></head><body><h1>会社概要</h1><p>東京都の製造業です。</p></body></html>`
const RUSSIAN =
  '<html lang="ru"><head><title>Завод «Прогресс»</title></head><body><p>Основана в Москве.</p></body></html>'
const FRENCH =
  '<html lang="fr"><head><title>Café Élan</title></head><body><p>Déjà vu à Orléans.</p></body></html>'

/** Pages in old encodings. None is UTF-8 unless its name says so. */
export const encodings: Site = {
  '/shift-jis': {
    type: 'text/html',
    body: encodeAs(
      'shift_jis',
      JAPANESE('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'),
    ),
  },
  '/euc-jp-undeclared': { type: 'text/html', body: encodeAs('euc-jp', JAPANESE('')) },
  '/windows-1251': { type: 'text/html; charset=windows-1251', body: encodeAs('windows-1251', RUSSIAN) },
  '/windows-1251-undeclared': { type: 'text/html', body: encodeAs('windows-1251', RUSSIAN) },
  '/latin-1-undeclared': { type: 'text/html', body: Buffer.from(FRENCH, 'latin1') },
  '/utf-8-called-latin-1': { type: 'text/html; charset=ISO-8859-1', body: Buffer.from(FRENCH, 'utf8') },
  '/utf-16-bom': {
    type: 'text/html',
    body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(FRENCH, 'utf16le')]),
  },
  '/meta-utf-16-in-ascii': {
    type: 'text/html',
    body: Buffer.from(FRENCH.replace('<head>', '<head><meta charset=utf-16>'), 'utf8'),
  },
  '/no-such-charset': { type: 'text/html; charset=klingon', body: Buffer.from(FRENCH, 'utf8') },
  '/gzip': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(FRENCH) },
  '/no-type': { type: '', body: Buffer.from(FRENCH, 'utf8') },
}

/** Detours to a page, and detours that lead nowhere. */
export const detours: Site = {
  '/robots.txt': {
    type: 'text/plain',
    body: 'User-agent: *\nDisallow: /private\nAllow: /private/press\n\nUser-agent: Loam\nDisallow: /not-for-loam\nDisallow: /*.cgi$\n',
  },
  '/redirects': { status: 301, headers: { location: '/second?x=1' } },
  '/second?x=1': { status: 302, headers: { location: 'ORIGIN/third', 'set-cookie': ['PHPSESSID=1'] } },
  '/third': { status: 308, headers: { location: '/end' } },
  '/end': '<title>The end</title><p>Here it is.</p>',
  '/refresh': '<html><head><meta http-equiv="Refresh" content="0; URL=\'/end\'"></head></html>',
  '/refresh-later':
    '<html><head><title>Wait</title><meta http-equiv="refresh" content="300;url=/end"></head></html>',
  '/refresh-without-script':
    '<html><head><title>Stay</title><noscript><meta http-equiv="refresh" content="0;url=/end"></noscript></head></html>',
  '/loop': { status: 302, headers: { location: '/loop' } },
  '/to-forbidden': { status: 302, headers: { location: '/not-for-loam/page' } },
  '/not-for-loam/page': '<p>secret</p>',
  '/private': '<title>Others only</title>',
  '/script.cgi': '<p>secret</p>',
  '/pdf': { type: 'application/pdf', body: '%PDF-1.7' },
  '/picture': { type: 'image/png', body: Buffer.from([0x89, 0x50]) },
  '/gone': { status: 410, body: 'gone' },
  '/forbidden': { status: 403, body: 'no' },
  '/busy': { status: 429, headers: { 'retry-after': '7' } },
  '/broken': { status: 503, headers: { 'retry-after': '99999999' } },
  '/error': { status: 500 },
  '/empty': '',
  '/huge': `<title>Huge</title>${'<p>All work and no play.</p>'.repeat(200_000)}`,
  '/long': `<title>Long</title><body>${'<p>All work and no play makes Jack a dull boy.</p>'.repeat(14_000)}`,
  '/deep': `<title>Deep</title>${'<div>'.repeat(5_000)}deep`,
}

/** Invalid HTML, and truncated data. */
export const broken: Site = {
  '/': `<html><head><title>Broken &amp; Sons</title><p>Text in the head <b>bold <i>both</b> slanted</i>
    <script type="application/ld+json"><!-- {"@type": "Organization", "name": "Broken
      & Sons", "telephone": "+44 20 7946 0018", "sameAs": ["https://x.com/brokensons",],} --></script>
    <script type="application/ld+json">{"@type": "Organization", "name": "Cut of</script>
    <script type="application/ld+json">${'['.repeat(500)}${']'.repeat(500)}</script>
    <script type="application/ld+json">[null, 7, "text", {"@type": 5}, [{"@type": "Person", "name": "Ann"}]]</script>
    <a href="http://[bad">bad</a><a href="javascript:void(0)">js</a><a href="page two">two words</a><a href=unquoted.html>u</a>
    <p>Mail: first.last@broken.example. <img src="icon@3x.png"> or sprite@2x.png, a@b, @handle, x@y.css, user@domain.com
    <table><tr><td>cell<td>other</table>`,
}
