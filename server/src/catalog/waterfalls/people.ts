import { apolloPeople } from '../providers/apollo/people.ts'
import { blitzPeople } from '../providers/blitz/people.ts'
import { crustdataPeople } from '../providers/crustdata/people.ts'
import { prospeoPeople } from '../providers/prospeo/people.ts'

/** The providers that list people at a company, in default order. */
export const PEOPLE_SOURCES = [apolloPeople, blitzPeople, crustdataPeople, prospeoPeople]
