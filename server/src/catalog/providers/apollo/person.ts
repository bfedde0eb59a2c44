import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { isIdentified, person } from '../../questions/person.ts'
import { placeOf } from '../../questions/place.ts'
import { MatchReply, matchRequest } from './match.ts'
import { apollo } from './provider.ts'

export const apolloPerson = defineAdapter(person, apollo, {
  price: 2,
  accepts: isIdentified,
  run: (ask, question) =>
    ask(matchRequest(question), MatchReply, ({ person: found }) => {
      if (!found?.name) return MISS
      return hit({
        full_name: found.name,
        title: found.title ?? null,
        company: found.organization?.name ?? null,
        location: placeOf(found),
        linkedin_url: found.linkedin_url ?? null,
        experiences: (found.employment_history ?? []).map((place) => ({
          title: place.title ?? null,
          company: place.organization_name ?? null,
          start: place.start_date ?? null,
          end: place.end_date ?? null,
          current: place.current ?? false,
        })),
        education: [],
      })
    }),
})
