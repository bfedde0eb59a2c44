import { apifyLinkedinCompany } from '../providers/apify/linkedin-company.ts'
import { crustdataLinkedinCompany } from '../providers/crustdata/linkedin-company.ts'

/** Who reads LinkedIn pages of companies, in the order of the default. */
export const LINKEDIN_COMPANY_READERS = [apifyLinkedinCompany, crustdataLinkedinCompany]
