import type { CellContext } from '../provider/context.ts'
import { runWaterfall, type WaterfallResult } from '../provider/waterfall-run.ts'
import { theirstackOpenings } from '../providers/theirstack/openings.ts'
import type { FoundOpenings } from '../questions/openings.ts'

/** The most openings to read, because each one is paid for. */
const LIMIT = 25

/**
 * Returns openings that TheirStack has collected, on the organisation's own key or else the installation's. Null
 * without a key.
 */
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
