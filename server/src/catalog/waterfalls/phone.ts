import { contactoutPhone } from '../providers/contactout/phone.ts'
import { datagmaPhone } from '../providers/datagma/phone.ts'
import { findymailPhone } from '../providers/findymail/phone.ts'
import { kasprPhone } from '../providers/kaspr/phone.ts'
import { leadmagicPhone } from '../providers/leadmagic/phone.ts'
import { peopledatalabsPhone } from '../providers/peopledatalabs/phone.ts'
import { prospeoPhone } from '../providers/prospeo/phone.ts'
import { rocketreachPhone } from '../providers/rocketreach/phone.ts'
import { surfePhone } from '../providers/surfe/phone.ts'
import { wizaPhone } from '../providers/wiza/phone.ts'

/** Who finds phone numbers, in the order of the default. */
export const PHONE_FINDERS = [
  leadmagicPhone,
  datagmaPhone,
  prospeoPhone,
  contactoutPhone,
  surfePhone,
  kasprPhone,
  rocketreachPhone,
  wizaPhone,
  findymailPhone,
  peopledatalabsPhone,
]
