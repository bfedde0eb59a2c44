import { bettercontactPhone } from '../providers/bettercontact/phone.ts'
import { contactoutPhone } from '../providers/contactout/phone.ts'
import { datagmaPhone } from '../providers/datagma/phone.ts'
import { enrowPhone } from '../providers/enrow/phone.ts'
import { findymailPhone } from '../providers/findymail/phone.ts'
import { fullenrichPhone } from '../providers/fullenrich/phone.ts'
import { kasprPhone } from '../providers/kaspr/phone.ts'
import { leadmagicPhone } from '../providers/leadmagic/phone.ts'
import { lushaPhone } from '../providers/lusha/phone.ts'
import { peopledatalabsPhone } from '../providers/peopledatalabs/phone.ts'
import { prospeoPhone } from '../providers/prospeo/phone.ts'
import { rocketreachPhone } from '../providers/rocketreach/phone.ts'
import { surfePhone } from '../providers/surfe/phone.ts'
import { wizaPhone } from '../providers/wiza/phone.ts'

/** The providers that find phone numbers, in default order. */
export const USUAL_PHONE_FINDERS = [
  leadmagicPhone,
  datagmaPhone,
  prospeoPhone,
  contactoutPhone,
  surfePhone,
  kasprPhone,
  rocketreachPhone,
  wizaPhone,
]

/** All providers, including those that are called only if they are named. */
export const PHONE_FINDERS = [
  ...USUAL_PHONE_FINDERS,
  findymailPhone,
  peopledatalabsPhone,
  fullenrichPhone,
  bettercontactPhone,
  lushaPhone,
  enrowPhone,
]
