import { deriveDomain } from '../../questions/company-domain.ts'
import { crustdataCompany } from './company.ts'

export const crustdataCompanyDomain = deriveDomain(crustdataCompany)
