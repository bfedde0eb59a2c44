import { defineAction } from '../define.ts'
import { field } from '../fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { profileCompany } from '../web/company-profile.ts'
import { readDocument } from '../web/document.ts'
import { extract, guessCountry } from '../web/extraction.ts'
import { fetchHome } from '../web/page-fetch.ts'
import { readSite } from '../web/site.ts'
import { pagesAbout, readPages, type Topic } from '../web/useful-pages.ts'

const TELLING: Topic[] = ['about', 'imprint', 'contact']

export default defineAction({
  id: 'company_profile_from_website',
  name: 'Company profile from website',
  description:
    'Reads what a company says of itself on its home page and its pages about, contact and imprint: structured data first, ' +
    'then what readers see.',
  category: 'companies',
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({ required: true, description: 'The domain or any address on it: acme.com.' }),
  },
  outputs: {
    name: output.text('Its name.'),
    description: output.text('What it says it does.'),
    logo: output.url('Address of its logo.'),
    address: output.text('Its postal address on one line.'),
    country: output.text('ISO code of its country: DE.'),
    phones: output.list('Phone numbers, +4930123456.'),
    emails: output.list('Email addresses.'),
    social_links: output.list('Addresses of its pages on social networks.'),
    founded: output.number('The year it was founded.'),
    industry_hint: output.text('What its words and data suggest; a hint only.'),
    evidence: output.table('Which page said what.', {
      field: 'string',
      value: 'string',
      source: 'string',
      url: 'url',
    }),
  },
  async run({ inputs, context }) {
    const site = readSite(inputs.domain)
    if (site === null) return failed(`domain: "${inputs.domain.slice(0, 100)}" names no website`)
    const result = await fetchHome(context, site.homes)
    if (!result.ok) return result.outcome
    const read = readDocument(result.page)
    if (!read.ok) return failed(read.message)
    const home = read.document
    const likely = TELLING.flatMap((topic) => pagesAbout(topic, home).slice(0, 2))
    const first = extract(home)
    const country = guessCountry(home, first.things)
    const others = await readPages(context, likely, 4)
    return done(profileCompany([first, ...others.map((page) => extract(page, country))], site.host))
  },
})
