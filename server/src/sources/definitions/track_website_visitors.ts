import { defineSource } from '../define.ts'
import { ownPixel, visitingCompanies } from '../systems/visitors/companies.ts'

export default defineSource({
  slug: 'track_website_visitors',
  name: 'Track companies that visit a website',
  description:
    'Companies whose networks visit your pages, by a script of ours without cookies; by reverse DNS, then IPinfo.',
  mode: 'recurring',
  shape: visitingCompanies,
  receives: ownPixel,
})
