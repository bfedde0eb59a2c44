import type { DnsRecords } from '../../../lib/egress/records.ts'
import type { WebDocument } from '../web/document.ts'
import { RULES } from './rules.ts'

export type Technology = { name: string; category: string; evidence: string }

/** A text in which signs are searched, with the evidence that is shown if one is found. */
type Trace = { text: string; evidence: string }
export type Traces = Map<string, Trace[]>

const MAX_ASSETS = 1_000
const MAX_HTML = 1_500_000

type Sign = { where: string; name: string; isPrefix: boolean; text: string }
type Rule = { name: string; category: string; signs: Sign[] }

const rules: Rule[] = Object.entries(RULES).flatMap(([category, entries]) =>
  entries.map(([name, ...signs]) => ({ name, category, signs: signs.map(parseSign) })),
)

/** Parses a sign. Headers and cookies are searched by name, all other places by a text in them. */
function parseSign(sign: string): Sign {
  const [, where = '', rest = ''] = /^([a-z]+):(.*)$/.exec(sign) ?? []
  if (where !== 'header' && where !== 'cookie') return { where, name: '', isPrefix: false, text: rest }
  const [, name = '', text = ''] = /^([^=]*)(?:=(.*))?$/.exec(rest) ?? []
  return { where, name: name.replace(/\*$/, ''), isPrefix: name.endsWith('*'), text }
}

/** Returns the technologies that the traces show, sorted by category and name, each with its first sign as evidence. */
export function detectTechnologies(traces: Traces): Technology[] {
  return rules
    .flatMap(({ name, category, signs }) => {
      const found = signs.flatMap((sign) => findSign(traces.get(sign.where) ?? [], sign) ?? [])[0]
      return found === undefined ? [] : [{ name, category, evidence: found.evidence }]
    })
    .sort((a, b) => compare(a.category, b.category) || compare(a.name, b.name))
}

function findSign(traces: readonly Trace[], sign: Sign): Trace | undefined {
  if (sign.name === '') return traces.find(({ text }) => text.includes(sign.text))
  return traces.find(({ text }) => {
    const at = text.indexOf('=')
    const name = text.slice(0, at)
    const isNamed = sign.isPrefix ? name.startsWith(sign.name) : name === sign.name
    return isNamed && text.includes(sign.text, at)
  })
}

/** Returns the traces of a page: headers, cookies, addresses of the files it loads, its generator, its text. */
export function tracesOfPage({ $, url, html, headers, cookies }: WebDocument): Traces {
  const assets = $(
    'script[src], link[href]:not([rel~="canonical"]):not([rel~="alternate"]), img[src], iframe[src], source[src]',
  )
    .toArray()
    .slice(0, MAX_ASSETS)
    .flatMap(
      (element) => URL.parse($(element).attr('src') ?? $(element).attr('href') ?? '', url.href)?.href ?? [],
    )
  const metas = $('meta[name][content]').toArray()
  const findMetas = (name: string) => metas.filter((meta) => $(meta).attr('name')?.toLowerCase() === name)
  const header = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value) => trace(`${name}=${value}`, `header ${name}: ${value}`)),
  )
  return new Map([
    ['header', header],
    ['cookie', cookies.map((cookie) => cookieTrace(cookie))],
    ['asset', [...new Set(assets)].map((address) => trace(address, `loads ${address}`))],
    [
      'generator',
      findMetas('generator').map((meta) =>
        trace($(meta).attr('content') ?? '', `generator ${$(meta).attr('content')}`),
      ),
    ],
    ['meta', metas.map((meta) => trace($(meta).attr('name') ?? '', `meta ${$(meta).attr('name')}`))],
    ['html', [trace(html.slice(0, MAX_HTML), 'mark in the page')]],
  ])
}

/**
 * Returns the traces of a domain in DNS: its mail servers, the domain verifications, its name servers, the host of its
 * site.
 */
export async function tracesOfNames(dns: DnsRecords, host: string, domain: string): Promise<Traces> {
  const [mx, txt, ns, cname] = await Promise.all([
    dns.mx(domain),
    dns.txt(domain),
    dns.ns(domain),
    dns.cname(wwwOf(host)),
  ])
  const tracesOfRecords = (what: string, answer: { ok: true; records: string[] } | { ok: false }) =>
    answer.ok ? answer.records.map((record) => trace(record, `DNS ${what} ${record}`)) : []
  const exchanges = mx.ok ? { ok: true as const, records: mx.records.map(({ exchange }) => exchange) } : mx
  return new Map([
    ['mx', tracesOfRecords('MX', exchanges)],
    ['txt', tracesOfRecords('TXT', txt)],
    ['ns', tracesOfRecords('NS', ns)],
    ['cname', tracesOfRecords('CNAME', cname)],
  ])
}

const wwwOf = (host: string) => (host.startsWith('www.') || host.split('.').length > 2 ? host : `www.${host}`)

/** Returns the trace of a cookie by its name only, because its value belongs to the reader of the page. */
function cookieTrace(cookie: string): Trace {
  const name = cookie.split(/[=;]/, 1)[0]?.trim() ?? ''
  return trace(`${name}=`, `cookie ${name}`)
}

function trace(text: string, evidence: string): Trace {
  return { text: text.toLowerCase(), evidence: evidence.replace(/\s+/g, ' ').slice(0, 200).toWellFormed() }
}

function compare(a: string, b: string): number {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()]
  return one < other ? -1 : one > other ? 1 : 0
}
