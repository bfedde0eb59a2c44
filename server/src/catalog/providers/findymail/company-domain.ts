import { deriveDomain } from '../../questions/company-domain.ts'
import { findymailCompany } from './company.ts'

export const findymailCompanyDomain = deriveDomain(findymailCompany)
