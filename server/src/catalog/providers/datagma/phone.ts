import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { phone } from '../../questions/phone.ts'
import { datagma } from './provider.ts'

const Code = z.union([z.string(), z.number()]).nullish()
const Number = z.object({
  number: z.union([z.string(), z.number()]).nullish(),
  countryCode: Code,
  displayInternational: WireText,
})
const Phones = z.object({ phones: z.array(Number).nullish() })
const Reply = z.object({ person: Phones.nullish(), ...Phones.shape })

export const datagmaPhone = defineAdapter(phone, datagma, {
  price: 8,
  accepts: ({ linkedin_url }) => linkedin_url !== '',
  run: (ask, { linkedin_url }) => {
    const query = { username: linkedin_url, minimumMatch: 1 }
    return ask({ path: '/api/ingress/v1/search', query }, Reply, ({ person, phones }) => {
      const found = (person?.phones ?? phones ?? []).map(toInternational).find((text) => text !== null)
      return found === undefined ? MISS : hit({ phone: found, type: null })
    })
  },
})

/**
 * Returns an international number. Datagma's numbers are national, so without the country's code they cannot be called.
 */
function toInternational({
  number,
  countryCode,
  displayInternational,
}: z.output<typeof Number>): string | null {
  if (displayInternational) return displayInternational
  const code = String(countryCode ?? '').replace(/\D/g, '')
  return number && code !== '' ? `+${code}${number}` : null
}
