import { defineSource } from '../define.ts'
import { ownPixel, visitingCompanies } from '../systems/visitors/companies.ts'

export default defineSource({
  slug: 'track_website_visitors',
  name: 'Track companies that visit a website',
  description:
    'Companies that visit your pages, tracked by our script without cookies; identified by reverse DNS, then IPinfo.',
  mode: 'recurring',
  shape: visitingCompanies,
  receives: ownPixel,
})
