import { apolloPeople } from '../providers/apollo/people.ts'
import { blitzPeople } from '../providers/blitz/people.ts'
import { crustdataPeople } from '../providers/crustdata/people.ts'
import { prospeoPeople } from '../providers/prospeo/people.ts'

/** Who lists people at a company, in the order of the default. */
export const PEOPLE_SOURCES = [apolloPeople, blitzPeople, crustdataPeople, prospeoPeople]
