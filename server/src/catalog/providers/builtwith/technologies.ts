import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { listTechnologies, technologies } from '../../questions/technologies.ts'
import { builtwith } from './provider.ts'

const Entry = z.object({
  Name: z.string(),
  Tag: WireText,
  Categories: z.array(z.string()).nullish(),
  FirstDetected: WireNumber,
  LastDetected: WireNumber,
})
const Path = z.object({ Url: WireText, Domain: WireText, Technologies: z.array(Entry).nullish() })
const Reply = z.object({
  Results: z.array(z.object({ Result: z.object({ Paths: z.array(Path).nullish() }) })).nullish(),
})

export const builtwithTechnologies = defineAdapter(technologies, builtwith, {
  price: 1,
  run: (ask, { domain }) =>
    ask({ path: '/v22/api.json', query: { LOOKUP: domain } }, Reply, ({ Results }) => {
      const paths = Results?.flatMap(({ Result }) => Result.Paths ?? []) ?? []
      return listTechnologies(
        paths.flatMap(({ Technologies }) =>
          (Technologies ?? []).map((entry) => ({
            name: entry.Name,
            category: entry.Categories?.[0] ?? entry.Tag ?? null,
            evidence: null,
            first_seen: formatDate(entry.FirstDetected),
            last_seen: formatDate(entry.LastDetected),
          })),
        ),
      )
    }),
})

function formatDate(millis: number | null | undefined): string | null {
  return millis ? new Date(millis).toISOString().slice(0, 10) : null
}
