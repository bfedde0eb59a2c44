import { apolloCompany } from '../providers/apollo/company.ts'
import { builtInWebsiteCompany } from '../providers/built_in_website/company.ts'
import { crustdataCompany } from '../providers/crustdata/company.ts'
import { datagmaCompany } from '../providers/datagma/company.ts'
import { exploriumCompany } from '../providers/explorium/company.ts'
import { findymailCompany } from '../providers/findymail/company.ts'
import { hunterCompany } from '../providers/hunter/company.ts'
import { leadmagicCompany } from '../providers/leadmagic/company.ts'
import { lushaCompany } from '../providers/lusha/company.ts'
import { peopledatalabsCompany } from '../providers/peopledatalabs/company.ts'
import { rocketreachCompany } from '../providers/rocketreach/company.ts'
import { surfeCompany } from '../providers/surfe/company.ts'
import { wizaCompany } from '../providers/wiza/company.ts'

/** The providers that are asked about companies if the caller names none, in this order. */
export const USUAL_COMPANY_SOURCES = [
  peopledatalabsCompany,
  apolloCompany,
  exploriumCompany,
  crustdataCompany,
  builtInWebsiteCompany,
]

/** All providers, including those that are called only if they are named. */
export const COMPANY_SOURCES = [
  ...USUAL_COMPANY_SOURCES,
  hunterCompany,
  leadmagicCompany,
  datagmaCompany,
  wizaCompany,
  rocketreachCompany,
  surfeCompany,
  findymailCompany,
  lushaCompany,
]
