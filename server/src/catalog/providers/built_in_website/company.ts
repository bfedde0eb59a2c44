import { profileWebsite } from '../../built-in/web/website-profile.ts'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { refusalOf } from '../../provider/outcome-refusal.ts'
import { company } from '../../questions/company.ts'
import { builtInWebsite } from './provider.ts'

/** What a company says of itself. */
export const builtInWebsiteCompany = defineAdapter(company, builtInWebsite, {
  price: 1,
  accepts: ({ domain }) => domain !== '',
  async run(_ask, { domain }, { context }) {
    const read = await profileWebsite(context, domain)
    if (!read.ok) return refusalOf(read.outcome)
    const { name, description, industry_hint, founded, address, social_links } = read.profile
    if (name === null) return MISS
    const linkedin_url =
      social_links.find((link) => /^https?:\/\/([a-z]+\.)?linkedin\.com\//.test(link)) ?? null
    return hit({
      name,
      description,
      industry: industry_hint,
      employees: null,
      revenue_range: null,
      founded,
      hq: address,
      ticker: null,
      linkedin_url,
    })
  },
})
