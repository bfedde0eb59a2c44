import { deriveDomain } from '../../questions/company-domain.ts'
import { rocketreachCompany } from './company.ts'

export const rocketreachCompanyDomain = deriveDomain(rocketreachCompany)
