import ipaddr from 'ipaddr.js'
import { getDomain } from 'tldts'
import { builtIn } from '../../../catalog/providers/built_in/provider.ts'
import type { Lookup } from '../../receive.ts'
import { isMadeUp, isNetwork } from './networks.ts'

const MAX_NAMES = 3

/**
 * Finds the company whose network an address belongs to, by reverse DNS. Anyone can give their address any name, so the
 * name must resolve back to the address. A name server that does not answer means no result.
 */
export const reverseDns: Lookup = {
  provider: builtIn,
  price: 0,
  async find(address, { context: { egress } }) {
    const names = await egress.dns.names(address)
    if (!names.ok) return null
    for (const given of names.records.slice(0, MAX_NAMES)) {
      const name = given.toLowerCase().replace(/\.$/, '')
      const domain = getDomain(name)
      if (domain === null || isNetwork(domain) || isMadeUp(name, domain, address)) continue
      const back = await egress.dns.addresses(name)
      if (back.ok && back.records.some((one) => isSame(one, address))) {
        return { name: null, domain, found_by: 'reverse_dns' }
      }
    }
    return null
  },
}

const isSame = (one: string, other: string) =>
  ipaddr.process(one).toString() === ipaddr.process(other).toString()
