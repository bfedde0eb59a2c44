import type { CellContext } from '../provider/context.ts'
import { runWaterfall, type WaterfallResult } from '../provider/waterfall-run.ts'
import { theirstackOpenings } from '../providers/theirstack/openings.ts'
import type { FoundOpenings } from '../questions/openings.ts'

/** It is paid by the opening. */
const LIMIT = 25

/** Openings as TheirStack has collected them, on a key of one's own before the platform's; null when there is no key. */
export async function searchOpenings(
  context: CellContext,
  domain: string,
  keywords: string[],
): Promise<WaterfallResult<FoundOpenings> | null> {
  const { id } = theirstackOpenings.provider
  const own_key = (await context.keys.own(id)) !== null
  if (!own_key && context.keys.platform(id) === null) return null
  return runWaterfall({
    steps: [{ provider: id, own_key }],
    adapters: [theirstackOpenings],
    input: { domain, keywords, limit: LIMIT },
    context,
    state: context.state,
  })
}
