import { normalizeText } from '../../../lib/plain-text.ts'
import { verifyAddress } from '../../built-in/mail/verify-address.ts'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { hasBothNames, type PersonAtCompany, workEmail } from '../../questions/work-email.ts'
import { builtInPattern } from './provider.ts'

const GUESS = 0.4
const SURE = 0.9

/** Tries the commonest forms of work addresses, as far as the mail server tells which is right. */
export const builtInPatternWorkEmail = defineAdapter(workEmail, builtInPattern, {
  price: 0.1,
  accepts: (person) => hasBothNames(person) && listForms(person).length > 0,
  async run(_ask, person, { context }) {
    for (const email of listForms(person)) {
      const { status } = await verifyAddress(email, context)
      if (status === 'valid') return hit({ email, confidence: SURE, status })
      // If the server accepts every address, or does not answer, a further form would show nothing new.
      if (status !== 'invalid') return hit({ email, confidence: GUESS, status }, false)
    }
    return MISS
  },
})

function listForms({ first_name, last_name, domain }: PersonAtCompany): string[] {
  const [first, last] = [plain(first_name), plain(last_name)]
  if (first === '' || last === '') return []
  const names = [`${first}.${last}`, `${first.slice(0, 1)}${last}`, first, `${first}${last}`]
  return [...new Set(names)].map((name) => `${name}@${domain}`)
}

/** Returns a name in the letters of mail addresses: no accents, no spaces. */
function plain(name: string): string {
  return normalizeText(name, 'NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9-]/g, '')
}
