import { defineAdapter, hit } from '../../provider/adapter.ts'
import { linkedinPerson } from '../../questions/linkedin-person.ts'
import { lookUpPerson } from './person-record.ts'
import { crustdata } from './provider.ts'

export const crustdataLinkedinPerson = defineAdapter(linkedinPerson, crustdata, {
  price: 1,
  run: (ask, { linkedin_url }) =>
    lookUpPerson(ask, { linkedin_url, email: '' }, ({ basic_profile, professional_network }, found) =>
      hit({
        ...found,
        headline: basic_profile.headline ?? null,
        about: basic_profile.summary ?? null,
        connections: professional_network?.connections ?? null,
      }),
    ),
})
