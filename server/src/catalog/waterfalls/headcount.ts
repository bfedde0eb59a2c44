import type { ActionContext, InputValues } from '../define.ts'
import { field } from '../fields/fields.ts'
import { type WaterfallResult, runWaterfall } from '../provider/waterfall-run.ts'
import { crustdataHeadcount } from '../providers/crustdata/headcount.ts'
import { exploriumHeadcount } from '../providers/explorium/headcount.ts'
import type { FoundHeadcount, HeadcountQuestion } from '../questions/headcount.ts'
import { bareHost } from '../questions/person-input.ts'

const SOURCES = [exploriumHeadcount, crustdataHeadcount]

export const HEADCOUNT_INPUTS = {
  domain: field.text({ description: 'acme.com; enough alone.' }),
  name: field.text({ description: 'Enough alone.' }),
  linkedin_url: field.text({ type: 'url', description: 'Enough alone.' }),
  providers: field.waterfall({
    providers: SOURCES.map(({ option }) => option),
    default: SOURCES.map(({ provider }) => provider.id),
    description: 'Who is asked, in order.',
  }),
}

export function countHeads(
  by: HeadcountQuestion['by'],
  { domain = '', name = '', linkedin_url = '', providers }: InputValues<typeof HEADCOUNT_INPUTS>,
  context: ActionContext,
): Promise<WaterfallResult<FoundHeadcount>> {
  return runWaterfall({
    steps: providers,
    adapters: SOURCES,
    input: { by, domain: bareHost(domain), name: name.trim(), linkedin_url: linkedin_url.trim() },
    context,
    state: context.state,
  })
}
