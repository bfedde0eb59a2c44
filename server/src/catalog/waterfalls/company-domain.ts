import { crustdataCompanyDomain } from '../providers/crustdata/company-domain.ts'
import { datagmaCompanyDomain } from '../providers/datagma/company-domain.ts'
import { findymailCompanyDomain } from '../providers/findymail/company-domain.ts'
import { peopledatalabsCompanyDomain } from '../providers/peopledatalabs/company-domain.ts'
import { rocketreachCompanyDomain } from '../providers/rocketreach/company-domain.ts'

/** The providers that find companies' websites by name, in default order. */
export const DOMAIN_FINDERS = [
  peopledatalabsCompanyDomain,
  datagmaCompanyDomain,
  findymailCompanyDomain,
  crustdataCompanyDomain,
  rocketreachCompanyDomain,
]
