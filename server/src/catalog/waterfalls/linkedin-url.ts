import { datagmaLinkedinUrl } from '../providers/datagma/linkedin-url.ts'
import { findymailLinkedinUrl } from '../providers/findymail/linkedin-url.ts'
import { leadmagicLinkedinUrl } from '../providers/leadmagic/linkedin-url.ts'
import { peopledatalabsLinkedinUrl } from '../providers/peopledatalabs/linkedin-url.ts'
import { prospeoLinkedinUrl } from '../providers/prospeo/linkedin-url.ts'

/** The providers that find LinkedIn profiles of people, in default order. */
export const PROFILE_FINDERS = [
  findymailLinkedinUrl,
  datagmaLinkedinUrl,
  prospeoLinkedinUrl,
  leadmagicLinkedinUrl,
  peopledatalabsLinkedinUrl,
]
