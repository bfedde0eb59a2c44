import { lookup, Resolver } from 'node:dns/promises'
import type { AllowEntry } from './addresses.ts'
import { codeOf, EgressFault } from './failures.ts'

/** Returns every address of a host name, in the order in which to try them. */
export type Resolve = (host: string) => Promise<string[]>

const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/**
 * Creates a resolver that queries name servers directly: the system's resolver has two slots in the whole
 * process, and two dead domains would delay every other call. Names of the operator's network are resolved by
 * the system, because it knows the hosts file.
 */
export function createResolver(options: { allow: readonly AllowEntry[]; servers?: readonly string[] }): {
  resolve: Resolve
  cancel: () => void
} {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (options.servers !== undefined) resolver.setServers(options.servers)

  async function resolve(host: string): Promise<string[]> {
    if (options.allow.some((entry) => entry.kind === 'host' && entry.host === host)) return askSystem(host)
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const reasons = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const transient = reasons.find((reason) => !NO_SUCH_NAME.has(codeOf(reason)))
    if (transient === undefined && options.allow.length > 0) return askSystem(host)
    throw transient ?? reasons[0]
  }

  return { resolve, cancel: () => resolver.cancel() }
}

async function askSystem(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(({ address }) => address)
}

/** Joins concurrent calls for the same name. Keeps nothing after the answer has arrived. */
export function shareInFlight(resolve: Resolve): Resolve {
  const inFlight = new Map<string, Promise<string[]>>()
  return (host) => {
    const asked = inFlight.get(host) ?? resolve(host).finally(() => inFlight.delete(host))
    inFlight.set(host, asked)
    return asked
  }
}

/**
 * Returns the fault for an error of a resolver. An error without a code is a bug in this program and is
 * returned unchanged.
 */
export function toDnsFault(error: unknown): unknown {
  const code = codeOf(error)
  if (code === '') return error
  if (NO_SUCH_NAME.has(code)) return new EgressFault('dns', 'there is no such host. Check its name.', false)
  return new EgressFault('dns', `the host name could not be resolved (${code}). Try again.`)
}
