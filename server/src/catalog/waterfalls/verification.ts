import { bouncerVerification } from '../providers/bouncer/verification.ts'
import { builtInVerification } from '../providers/built_in/verification.ts'
import { emailableVerification } from '../providers/emailable/verification.ts'
import { enrowVerification } from '../providers/enrow/verification.ts'
import { findymailVerification } from '../providers/findymail/verification.ts'
import { hunterVerification } from '../providers/hunter/verification.ts'
import { icypeasVerification } from '../providers/icypeas/verification.ts'
import { leadmagicVerification } from '../providers/leadmagic/verification.ts'
import { millionverifierVerification } from '../providers/millionverifier/verification.ts'
import { neverbounceVerification } from '../providers/neverbounce/verification.ts'
import { reoonVerification } from '../providers/reoon/verification.ts'
import { zerobounceVerification } from '../providers/zerobounce/verification.ts'

/** The providers that verify addresses. */
export const VERIFIERS = [
  builtInVerification,
  zerobounceVerification,
  neverbounceVerification,
  millionverifierVerification,
  hunterVerification,
  icypeasVerification,
  findymailVerification,
  leadmagicVerification,
  enrowVerification,
  reoonVerification,
  bouncerVerification,
  emailableVerification,
]
