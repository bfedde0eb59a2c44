import { apolloWorkEmail } from '../providers/apollo/work-email.ts'
import { blitzWorkEmail } from '../providers/blitz/work-email.ts'
import { builtInVerification } from '../providers/built_in/verification.ts'
import { builtInPatternWorkEmail } from '../providers/built_in_pattern/work-email.ts'
import { datagmaWorkEmail } from '../providers/datagma/work-email.ts'
import { dropcontactWorkEmail } from '../providers/dropcontact/work-email.ts'
import { findymailWorkEmail } from '../providers/findymail/work-email.ts'
import { hunterVerification } from '../providers/hunter/verification.ts'
import { hunterWorkEmail } from '../providers/hunter/work-email.ts'
import { icypeasWorkEmail } from '../providers/icypeas/work-email.ts'
import { leadmagicWorkEmail } from '../providers/leadmagic/work-email.ts'
import { millionverifierVerification } from '../providers/millionverifier/verification.ts'
import { neverbounceVerification } from '../providers/neverbounce/verification.ts'
import { prospeoWorkEmail } from '../providers/prospeo/work-email.ts'
import { snovWorkEmail } from '../providers/snov/work-email.ts'
import { wizaWorkEmail } from '../providers/wiza/work-email.ts'
import { zerobounceVerification } from '../providers/zerobounce/verification.ts'

/** Who finds work emails. */
export const FINDERS = [
  builtInPatternWorkEmail,
  blitzWorkEmail,
  hunterWorkEmail,
  prospeoWorkEmail,
  leadmagicWorkEmail,
  findymailWorkEmail,
  datagmaWorkEmail,
  apolloWorkEmail,
  snovWorkEmail,
  wizaWorkEmail,
  dropcontactWorkEmail,
  icypeasWorkEmail,
]

/** Who verifies addresses. */
export const VERIFIERS = [
  builtInVerification,
  zerobounceVerification,
  neverbounceVerification,
  millionverifierVerification,
  hunterVerification,
]
