import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { isNamed, linkedinUrl, tellProfile } from '../../questions/linkedin-url.ts'
import { FULL_PATH } from './full.ts'
import { datagma } from './provider.ts'

const Reply = z.object({ linkedInUrl: WireText })

export const datagmaLinkedinUrl = defineAdapter(linkedinUrl, datagma, {
  price: 2,
  accepts: isNamed,
  run: (ask, { email, full_name, domain }) => {
    const who = email === '' ? { data: full_name, companyKeyword: domain } : { data: email }
    const query = { ...who, personFull: false, phoneFull: false }
    return ask({ path: FULL_PATH, query }, Reply, (found) => tellProfile(found.linkedInUrl))
  },
})
