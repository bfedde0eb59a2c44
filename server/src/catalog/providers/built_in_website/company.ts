import { profileWebsite } from '../../built-in/web/website-profile.ts'
import { defineAdapter } from '../../provider/adapter.ts'
import { refusalOf } from '../../provider/reply.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { builtInWebsite } from './provider.ts'

/** Reads what a company's website says about the company. */
export const builtInWebsiteCompany = defineAdapter(company, builtInWebsite, {
  price: 1,
  accepts: ({ domain }) => domain !== '',
  async run(_ask, { domain }, { context }) {
    const read = await profileWebsite(context, domain)
    if (!read.ok) return refusalOf(read.outcome)
    const { name, description, industry_hint, founded, address, social_links } = read.profile
    return tellCompany({
      name,
      domain,
      description,
      industry: industry_hint,
      founded,
      hq: address,
      linkedin_url: social_links.find((link) => /^https?:\/\/([a-z]+\.)?linkedin\.com\//.test(link)),
    })
  },
})
