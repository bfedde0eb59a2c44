import { defineAdapter, hit } from '../../provider/adapter.ts'
import { linkedinPerson } from '../../questions/linkedin-person.ts'
import { lookUpPerson } from './person-record.ts'
import { crustdata } from './provider.ts'

export const crustdataLinkedinPerson = defineAdapter(linkedinPerson, crustdata, {
  price: 1,
  run: (ask, { linkedin_url }) =>
    lookUpPerson(ask, { linkedin_url, email: '' }, (record, found) =>
      hit({
        ...found,
        headline: record.headline ?? null,
        about: record.summary ?? null,
        connections: record.num_of_connections ?? null,
      }),
    ),
})
