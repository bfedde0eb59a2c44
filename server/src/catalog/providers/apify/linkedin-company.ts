import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { linkedinCompany } from '../../questions/linkedin-company.ts'
import { placeOf } from '../../questions/place.ts'
import { runActor } from './actor.ts'
import { apify } from './provider.ts'

const ACTOR = 'harvestapi~linkedin-company'
const Company = z.object({
  name: WireText,
  description: WireText,
  tagline: WireText,
  website: WireText,
  linkedinUrl: WireText,
  employeeCount: WireNumber,
  followerCount: WireNumber,
  foundedOn: z.object({ year: WireNumber }).nullish(),
  industries: z.array(z.object({ name: WireText })).nullish(),
  locations: z
    .array(
      z.object({
        headquarter: z.boolean().nullish(),
        city: WireText,
        geographicArea: WireText,
        country: WireText,
      }),
    )
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
