import { defineSource } from '../define.ts'
import { apolloPeopleSearch } from '../people/apollo.ts'
import { crustdataPeopleSearch } from '../people/crustdata.ts'
import { prospeoPeopleSearch } from '../people/prospeo.ts'
import { checkPeopleSearch, people } from '../people/search.ts'

export default defineSource({
  slug: 'find_people',
  name: 'Find people',
  description: 'People by title, level, employer and country: by Apollo, Crustdata or Prospeo.',
  mode: 'once',
  shape: people,
  check: checkPeopleSearch,
  pulls: [apolloPeopleSearch, crustdataPeopleSearch, prospeoPeopleSearch],
})
