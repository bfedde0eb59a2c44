import { z } from 'zod'
import { byLabel, mapReply } from '../../../catalog/provider/options.ts'
import { theirstack } from '../../../catalog/providers/theirstack/provider.ts'
import type { SourceOptions } from '../../define.ts'

// Evidence: catalogue endpoints of TheirStack's API reference (v0/catalog/industries, v0/catalog/keywords); public clients read
// data[] of {name, slug, category} from keywords and narrow it by keyword_type and name_pattern, November 2026.
/** Parses a list that TheirStack returns bare or in an envelope. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([z.array(item), z.object({ data: z.array(item) }).transform(({ data }) => data)])
const Keywords = listOf(z.object({ slug: z.string(), name: z.string().nullish() }))
const Industries = listOf(z.object({ industry_id: z.union([z.string(), z.number()]), industry: z.string() }))
const MAX_SHOWN = 1000

const technologies: SourceOptions = {
  provider: theirstack,
  list: async (send) =>
    mapReply(
      await send(
        { path: '/v0/catalog/keywords', query: { keyword_type: 'technology', limit: MAX_SHOWN } },
        Keywords,
      ),
      (list) => byLabel(list.map(({ slug, name }) => ({ value: slug, label: name ?? slug }))),
    ),
}

const industries: SourceOptions = {
  provider: theirstack,
  list: async (send) =>
    mapReply(
      await send({ path: '/v0/catalog/industries', query: { limit: MAX_SHOWN } }, Industries),
      (list) =>
        byLabel(list.map(({ industry_id, industry }) => ({ value: String(industry_id), label: industry }))),
    ),
}

export const theirstackOptions = {
  company_technology_slug: technologies,
  job_technology_slug: technologies,
  industry_id: industries,
}
