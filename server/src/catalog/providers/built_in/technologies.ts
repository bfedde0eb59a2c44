import { readSiteTechnologies } from '../../built-in/technologies/site-technologies.ts'
import { defineAdapter } from '../../provider/adapter.ts'
import { refusalOf } from '../../provider/reply.ts'
import { listTechnologies, technologies } from '../../questions/technologies.ts'
import { builtIn } from './provider.ts'

export const builtInTechnologies = defineAdapter(technologies, builtIn, {
  price: 1,
  async run(_ask, { domain }, { context }) {
    const found = await readSiteTechnologies(context, domain)
    if (!Array.isArray(found)) return refusalOf(found)
    return listTechnologies(found.map((entry) => ({ ...entry, first_seen: null, last_seen: null })))
  },
})
