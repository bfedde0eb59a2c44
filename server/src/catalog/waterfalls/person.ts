import { apolloPerson } from '../providers/apollo/person.ts'
import { crustdataPerson } from '../providers/crustdata/person.ts'
import { peopledatalabsPerson } from '../providers/peopledatalabs/person.ts'
import { prospeoPerson } from '../providers/prospeo/person.ts'

/** The providers that know people, in default order. */
export const PERSON_SOURCES = [peopledatalabsPerson, apolloPerson, crustdataPerson, prospeoPerson]
