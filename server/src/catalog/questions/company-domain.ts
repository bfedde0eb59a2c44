import { z } from 'zod'
import { type Adapter, defineAdapter, type Found, hit, MISS, type QuestionKind } from '../provider/adapter.ts'
import { type Company, type CompanyQuestion, Host } from './company.ts'

/** `domain` is the website of the company with that name. */
export type FoundDomain = { domain: string }

const Result = z.object({ domain: Host.pipe(z.string().regex(/^[^\s/]+\.[^\s/.]+$/)) })

export const companyDomain: QuestionKind<{ name: string }, FoundDomain> = { result: Result }

/** Returns the domain of a website, in whatever form its address is written. */
export function tellDomain(website: string | null | undefined): Found<FoundDomain> {
  return website ? hit({ domain: website }) : MISS
}

/** Makes an adapter for websites from an adapter that finds companies by name. */
export function deriveDomain(
  adapter: Adapter<CompanyQuestion, Company>,
): Adapter<{ name: string }, FoundDomain> {
  return defineAdapter(companyDomain, adapter.provider, {
    price: adapter.price,
    async run(ask, { name }, more) {
      const found = await adapter.run(ask, { name, domain: '', linkedin_url: '' }, more)
      return found.kind === 'hit' ? tellDomain(found.value.domain) : found
    },
  })
}
