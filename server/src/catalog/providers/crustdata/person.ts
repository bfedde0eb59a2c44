import { defineAdapter, hit } from '../../provider/adapter.ts'
import { person } from '../../questions/person.ts'
import { lookUpPerson } from './person-record.ts'
import { crustdata } from './provider.ts'

export const crustdataPerson = defineAdapter(person, crustdata, {
  price: 2,
  accepts: ({ linkedin_url, email }) => linkedin_url !== '' || email !== '',
  run: (ask, question) => lookUpPerson(ask, question, (_record, found) => hit(found)),
})
