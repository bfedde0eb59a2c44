import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { announceCall } from '../outside-calls.ts'
import { codeOf } from './failures.ts'

/**
 * The answer to a DNS query. `exists` is false if the whole name does not exist. It is true with an empty
 * list if only this type of record is missing.
 */
export type DnsAnswer<Entry> =
  | { ok: true; exists: boolean; records: Entry[] }
  | { ok: false; message: string }

export type MailExchange = { exchange: string; priority: number }

/**
 * Queries name servers for the records of a name. Never rejects for something that a name or a server causes.
 */
export type DnsRecords = {
  mx(name: string): Promise<DnsAnswer<MailExchange>>
  txt(name: string): Promise<DnsAnswer<string>>
  cname(name: string): Promise<DnsAnswer<string>>
  ns(name: string): Promise<DnsAnswer<string>>
  addresses(name: string): Promise<DnsAnswer<string>>
  /** Returns the names of an address (PTR), IPv4 or IPv6. */
  names(address: string): Promise<DnsAnswer<string>>
}

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EBADNAME'])
const MAX_NAME = 253

export function createRecords(servers: readonly string[]): { dns: DnsRecords; cancel: () => void } {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers.length > 0) resolver.setServers(servers)
  const ask =
    <Entry>(query: (name: string) => Promise<Entry[]>) =>
    (name: string) =>
      answer(name, query)
  const dns: DnsRecords = {
    mx: ask(async (name) =>
      (await resolver.resolveMx(name))
        .map(({ exchange, priority }) => ({ exchange, priority }))
        .sort((a, b) => a.priority - b.priority),
    ),
    txt: ask(async (name) => (await resolver.resolveTxt(name)).map((parts) => parts.join(''))),
    cname: ask((name) => resolver.resolveCname(name)),
    ns: ask(async (name) => (await resolver.resolveNs(name)).toSorted()),
    async addresses(name) {
      const [four, six] = await Promise.all([
        answer(name, (host) => resolver.resolve4(host)),
        answer(name, (host) => resolver.resolve6(host)),
      ])
      if (!four.ok) return six.ok && six.records.length > 0 ? six : four
      return six.ok ? { ...four, records: [...four.records, ...six.records] } : four
    },
    // The reverse name is queried directly, because Resolver.reverse would read the hosts file of this
    // machine first.
    names: (address) => answer(reverseName(address), (name) => resolver.resolvePtr(name)),
  }
  return { dns, cancel: () => resolver.cancel() }
}

async function answer<Entry>(
  name: string,
  query: (name: string) => Promise<Entry[]>,
): Promise<DnsAnswer<Entry>> {
  if (name === '' || name.length > MAX_NAME || isIP(name) !== 0)
    return { ok: true, exists: false, records: [] }
  try {
    announceCall(`DNS of ${name}`)
    return { ok: true, exists: true, records: await query(name) }
  } catch (error) {
    const code = codeOf(error)
    if (code === '') throw error
    if (NO_SUCH_NAME.has(code)) return { ok: true, exists: false, records: [] }
    if (code === 'ENODATA') return { ok: true, exists: true, records: [] }
    return { ok: false, message: `name servers gave no answer about ${name} (${code})` }
  }
}

/** Returns `4.3.2.1.in-addr.arpa` for 1.2.3.4, or an empty text if the input is not an address. */
function reverseName(address: string): string {
  if (isIP(address) === 0 || address.includes('%')) return ''
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.toReversed().join('.')}.in-addr.arpa`
  const digits = parsed.toByteArray().flatMap((byte) => [byte >> 4, byte & 15])
  return `${digits
    .map((digit) => digit.toString(16))
    .toReversed()
    .join('.')}.ip6.arpa`
}
