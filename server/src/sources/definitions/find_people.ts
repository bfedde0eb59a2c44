import { defineSource } from '../define.ts'
import { apolloPeopleSearch } from '../systems/people/apollo.ts'
import { crustdataPeopleSearch } from '../systems/people/crustdata.ts'
import { prospeoPeopleSearch } from '../systems/people/prospeo.ts'
import { checkPeopleSearch, people } from '../systems/people/search.ts'

export default defineSource({
  slug: 'find_people',
  name: 'Find people',
  description: 'People by title, level, employer and country: by Apollo, Crustdata or Prospeo.',
  mode: 'once',
  shape: people,
  check: checkPeopleSearch,
  pulls: [apolloPeopleSearch, crustdataPeopleSearch, prospeoPeopleSearch],
})
