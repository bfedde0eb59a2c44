import { apifyLinkedinPerson } from '../providers/apify/linkedin-person.ts'
import { crustdataLinkedinPerson } from '../providers/crustdata/linkedin-person.ts'

/** The providers that read LinkedIn profiles of people, in default order. */
export const LINKEDIN_PERSON_READERS = [apifyLinkedinPerson, crustdataLinkedinPerson]
