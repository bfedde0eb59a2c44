import { defineSource } from '../define.ts'
import { builtwithUsers } from '../systems/companies/builtwith.ts'
import { theirstackUsers, usersOfTechnologies } from '../systems/theirstack/companies.ts'
import { theirstackOptions } from '../systems/theirstack/options.ts'

export default defineSource({
  slug: 'find_companies_by_tech_stack',
  name: 'Find companies by technology',
  description: 'Companies that use a technology, by TheirStack or BuiltWith.',
  mode: 'once',
  shape: usersOfTechnologies,
  pulls: [theirstackUsers, builtwithUsers],
  options: { company_technology_slug: theirstackOptions.company_technology_slug },
})
