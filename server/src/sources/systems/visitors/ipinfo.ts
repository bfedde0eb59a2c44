import { getDomain } from 'tldts'
import { z } from 'zod'
import { ipinfo } from '../../../catalog/providers/ipinfo/provider.ts'
import type { Lookup } from '../../receive.ts'
import { isNetwork } from './networks.ts'

// Evidence: IPinfo's reference of GET /{ip}/json: company {name, domain, type}, where type is isp, business, education or hosting.
const Reply = z.object({
  bogon: z.boolean().optional(),
  company: z.object({ name: z.string(), domain: z.string().nullish(), type: z.string().nullish() }).nullish(),
})
const COMPANIES: ReadonlySet<string> = new Set(['business', 'education', 'government'])

export const ipinfoCompany: Lookup = {
  provider: ipinfo,
  price: 1,
  async find(address, { ask }) {
    const answer = await ask({ path: `/${encodeURIComponent(address)}/json` }, Reply, ({ company }) => {
      const domain = getDomain(company?.domain ?? '')
      if (!company || domain === null || isNetwork(domain) || !COMPANIES.has(company.type ?? ''))
        return { none: true as const }
      return { name: company.name, domain, found_by: ipinfo.id }
    })
    if ('none' in answer || ('kind' in answer && answer.kind === 'miss')) return null
    return answer
  },
}
