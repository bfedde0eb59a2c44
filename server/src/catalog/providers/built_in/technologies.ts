import { defineAdapter } from '../../adapter.ts'
import { listTechnologies, technologies } from '../../jobs/technologies.ts'
import { refusalOf } from '../../outcome-refusal.ts'
import { readSiteTechnologies } from '../../technologies/site-technologies.ts'
import { builtIn } from './provider.ts'

export const builtInTechnologies = defineAdapter(technologies, builtIn, {
  price: 1,
  async run(_ask, { domain }, { context }) {
    const found = await readSiteTechnologies(context, domain)
    if (!Array.isArray(found)) return refusalOf(found)
    return listTechnologies(found.map((entry) => ({ ...entry, first_seen: null, last_seen: null })))
  },
})
