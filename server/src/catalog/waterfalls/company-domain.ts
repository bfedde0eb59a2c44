import { crustdataCompanyDomain } from '../providers/crustdata/company-domain.ts'
import { datagmaCompanyDomain } from '../providers/datagma/company-domain.ts'
import { findymailCompanyDomain } from '../providers/findymail/company-domain.ts'
import { peopledatalabsCompanyDomain } from '../providers/peopledatalabs/company-domain.ts'
import { rocketreachCompanyDomain } from '../providers/rocketreach/company-domain.ts'

/** Who knows the websites of companies by their names, in the order of the default. */
export const DOMAIN_FINDERS = [
  peopledatalabsCompanyDomain,
  datagmaCompanyDomain,
  findymailCompanyDomain,
  crustdataCompanyDomain,
  rocketreachCompanyDomain,
]
