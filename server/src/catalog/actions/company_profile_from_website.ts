import { profileWebsite } from '../built-in/web/website-profile.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'company_profile_from_website',
  name: 'Company profile from website',
  description: 'Builds a company profile from its home page and its about, contact and imprint pages.',
  category: 'companies',
  synonyms: ['extract', 'about', 'firmographics', 'description', 'logo', 'address', 'scrape'],
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({
      required: true,
      label: 'Company domain',
      help: 'The website to read.',
      placeholder: 'acme.com',
      details: 'Any address on it works as well.',
    }),
  },
  outputs: {
    name: output.text('Its name.'),
    description: output.text('The description of the company on its website.'),
    logo: output.url('The URL of its logo.'),
    address: output.text('Its postal address on one line.'),
    country: output.text('ISO code of its country: DE.'),
    phones: output.list('Phone numbers, +4930123456.'),
    emails: output.list('Email addresses.'),
    social_links: output.list('The URLs of its pages on social networks.'),
    founded: output.number('The year it was founded.'),
    industry_hint: output.text('The industry that the website suggests; only a hint.'),
    evidence: output.table('The source page of each value.', {
      field: 'string',
      value: 'string',
      source: 'string',
      url: 'url',
    }),
  },
  async run({ inputs, context }) {
    const read = await profileWebsite(context, inputs.domain)
    return read.ok ? done(read.profile) : read.outcome
  },
})
