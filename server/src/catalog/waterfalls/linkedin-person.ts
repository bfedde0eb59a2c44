import { apifyLinkedinPerson } from '../providers/apify/linkedin-person.ts'
import { crustdataLinkedinPerson } from '../providers/crustdata/linkedin-person.ts'

/** Who reads LinkedIn profiles of people, in the order of the default. */
export const LINKEDIN_PERSON_READERS = [apifyLinkedinPerson, crustdataLinkedinPerson]
