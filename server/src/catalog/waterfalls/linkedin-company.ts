import { apifyLinkedinCompany } from '../providers/apify/linkedin-company.ts'
import { crustdataLinkedinCompany } from '../providers/crustdata/linkedin-company.ts'

/** The providers that read LinkedIn pages of companies, in default order. */
export const LINKEDIN_COMPANY_READERS = [apifyLinkedinCompany, crustdataLinkedinCompany]
