import { z } from 'zod'
import { defineAdapter, type Found, hit, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { type FoundPhone, phone } from '../../questions/phone.ts'
import { hasNameAndDomain } from '../../questions/work-email.ts'
import { rocketreach } from './provider.ts'

const Number = z.object({ number: WireText, type: WireText, recommended: z.boolean().nullish() })
const Profile = z.object({
  id: z.union([z.number(), z.string()]),
  status: z.string(),
  phones: z.array(Number).nullish(),
})

export const rocketreachPhone = defineAdapter(phone, rocketreach, {
  price: 5,
  accepts: (person) => person.linkedin_url !== '' || hasNameAndDomain(person),
  run: (ask, { linkedin_url, full_name, domain }, { poll }) => {
    if (typeof poll === 'string') {
      const request = { path: '/api/v2/person/checkStatus', query: { ids: poll } }
      return ask(request, z.array(Profile), ([profile]) => (profile === undefined ? MISS : read(profile)))
    }
    const query = linkedin_url === '' ? { name: full_name, current_employer: domain } : { linkedin_url }
    return ask({ path: '/api/v2/person/lookup', query }, Profile, read)
  },
})

function read({ id, status, phones }: z.output<typeof Profile>): Found<FoundPhone> {
  if (status === 'failed') return MISS
  if (status !== 'complete') return { kind: 'pending', afterMs: 3000, poll: String(id) }
  const numbers = phones?.filter(({ number }) => number) ?? []
  const best =
    numbers.find(({ recommended }) => recommended) ??
    numbers.find(({ type }) => type === 'mobile') ??
    numbers[0]
  return best?.number ? hit({ phone: best.number, type: best.type ?? null }) : MISS
}
