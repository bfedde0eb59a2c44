import { apolloCompany } from '../providers/apollo/company.ts'
import { builtInWebsiteCompany } from '../providers/built_in_website/company.ts'
import { crustdataCompany } from '../providers/crustdata/company.ts'
import { exploriumCompany } from '../providers/explorium/company.ts'
import { peopledatalabsCompany } from '../providers/peopledatalabs/company.ts'

/** Who knows companies, in the order of the default. */
export const COMPANY_SOURCES = [
  peopledatalabsCompany,
  apolloCompany,
  exploriumCompany,
  crustdataCompany,
  builtInWebsiteCompany,
]
