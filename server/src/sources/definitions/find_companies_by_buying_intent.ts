import { defineSource } from '../define.ts'
import { exploriumIntent, interestedCompanies } from '../systems/intent/explorium.ts'
import { theirstackIntent } from '../systems/theirstack/intent.ts'

export default defineSource({
  slug: 'find_companies_by_buying_intent',
  name: 'Find companies by buying intent',
  description: 'Companies that show interest in a topic, by Explorium or TheirStack.',
  mode: 'once',
  shape: interestedCompanies,
  pulls: [exploriumIntent, theirstackIntent],
})
