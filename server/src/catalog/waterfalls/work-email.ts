import { anymailfinderWorkEmail } from '../providers/anymailfinder/work-email.ts'
import { apolloWorkEmail } from '../providers/apollo/work-email.ts'
import { bettercontactWorkEmail } from '../providers/bettercontact/work-email.ts'
import { blitzWorkEmail } from '../providers/blitz/work-email.ts'
import { builtInPatternWorkEmail } from '../providers/built_in_pattern/work-email.ts'
import { contactoutWorkEmail } from '../providers/contactout/work-email.ts'
import { datagmaWorkEmail } from '../providers/datagma/work-email.ts'
import { dropcontactWorkEmail } from '../providers/dropcontact/work-email.ts'
import { enrowWorkEmail } from '../providers/enrow/work-email.ts'
import { findymailWorkEmail } from '../providers/findymail/work-email.ts'
import { fullenrichWorkEmail } from '../providers/fullenrich/work-email.ts'
import { hunterWorkEmail } from '../providers/hunter/work-email.ts'
import { icypeasWorkEmail } from '../providers/icypeas/work-email.ts'
import { kasprWorkEmail } from '../providers/kaspr/work-email.ts'
import { leadmagicWorkEmail } from '../providers/leadmagic/work-email.ts'
import { lushaWorkEmail } from '../providers/lusha/work-email.ts'
import { peopledatalabsWorkEmail } from '../providers/peopledatalabs/work-email.ts'
import { prospeoWorkEmail } from '../providers/prospeo/work-email.ts'
import { rocketreachWorkEmail } from '../providers/rocketreach/work-email.ts'
import { snovWorkEmail } from '../providers/snov/work-email.ts'
import { surfeWorkEmail } from '../providers/surfe/work-email.ts'
import { tombaWorkEmail } from '../providers/tomba/work-email.ts'
import { wizaWorkEmail } from '../providers/wiza/work-email.ts'

/** The providers that find work emails, in default order. */
export const USUAL_EMAIL_FINDERS = [
  blitzWorkEmail,
  hunterWorkEmail,
  prospeoWorkEmail,
  leadmagicWorkEmail,
  findymailWorkEmail,
  datagmaWorkEmail,
  apolloWorkEmail,
  snovWorkEmail,
  wizaWorkEmail,
]

/** All providers, including those that are called only if they are named. */
export const EMAIL_FINDERS = [
  builtInPatternWorkEmail,
  ...USUAL_EMAIL_FINDERS,
  dropcontactWorkEmail,
  icypeasWorkEmail,
  contactoutWorkEmail,
  rocketreachWorkEmail,
  surfeWorkEmail,
  kasprWorkEmail,
  peopledatalabsWorkEmail,
  fullenrichWorkEmail,
  bettercontactWorkEmail,
  enrowWorkEmail,
  lushaWorkEmail,
  anymailfinderWorkEmail,
  tombaWorkEmail,
]
