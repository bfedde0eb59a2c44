import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { linkedinCompany } from '../../questions/linkedin-company.ts'
import { placeOf } from '../../questions/place.ts'
import { runActor } from './actor.ts'
import { apify } from './provider.ts'

const ACTOR = 'harvestapi~linkedin-company'
const Text = z.string().nullish()
const Amount = z.number().nullish()
const Company = z.object({
  name: Text,
  description: Text,
  tagline: Text,
  website: Text,
  linkedinUrl: Text,
  employeeCount: Amount,
  followerCount: Amount,
  foundedOn: z.object({ year: Amount }).nullish(),
  industries: z.array(z.object({ name: Text })).nullish(),
  locations: z
    .array(z.object({ headquarter: z.boolean().nullish(), city: Text, geographicArea: Text, country: Text }))
    .nullish(),
})

export const apifyLinkedinCompany = defineAdapter(linkedinCompany, apify, {
  price: 1,
  run: (ask, { linkedin_url }) =>
    ask(runActor(ACTOR, { companies: [linkedin_url] }), z.array(Company), ([found]) => {
      if (!found?.name) return MISS
      const places = found.locations ?? []
      const hq = places.find(({ headquarter }) => headquarter) ?? places[0]
      return hit({
        name: found.name,
        description: found.description ?? found.tagline ?? null,
        industry: found.industries?.[0]?.name ?? null,
        headcount: found.employeeCount ?? null,
        hq: placeOf({ city: hq?.city, state: hq?.geographicArea, country: hq?.country }),
        website: found.website ?? null,
        founded: found.foundedOn?.year ?? null,
        followers: found.followerCount ?? null,
        linkedin_url: found.linkedinUrl ?? linkedin_url,
      })
    }),
})
