import type { ConfiguredWaterfall, WaterfallStep } from '../fields/waterfall-field.ts'
import type { Adapter } from './adapter.ts'
import type { ProviderRate } from './context.ts'
import type { Progress } from './waterfall-progress.ts'

type Rated = { step: WaterfallStep; name: string; cost: number; rate: number; asked: number; found: number }

/**
 * The assumed history of every provider: so many calls, half of them hits at the list price. With it, few facts decide
 * little.
 */
const SUPPOSED = { asked: 10, found: 5 }

/**
 * Sorts the steps by the price of a find, then by how often one is found. The order is decided once for a cell and
 * noted in its provenance, so that a parked cell continues in the same order.
 */
export function orderByFinds<Input, Result>(
  { adapters, steps }: ConfiguredWaterfall<Adapter<Input, Result>>,
  progress: Progress<Result>,
  rates: readonly ProviderRate[],
): readonly WaterfallStep[] {
  if (progress.order === undefined) {
    const rated = steps.map((step) => rateStep(step, adapters, rates))
    const sorted = rated.toSorted((a, b) => a.cost - b.cost || b.rate - a.rate)
    progress.order = sorted.map(({ step }) => step.provider)
    progress.provenance.push({
      provider: 'Loam',
      status: 'ordered',
      ms: 0,
      credits: 0,
      message: `by credits for each find of the last 30 days: ${sorted.map(describe).join(', ')}`,
    })
  }
  const { order } = progress
  return steps.toSorted((a, b) => order.indexOf(a.provider) - order.indexOf(b.provider))
}

function rateStep<Input, Result>(
  step: WaterfallStep,
  adapters: readonly Adapter<Input, Result>[],
  rates: readonly ProviderRate[],
): Rated {
  const adapter = adapters.find(({ provider }) => provider.id === step.provider)
  const name = adapter?.provider.name ?? step.provider
  const price = step.own_key ? 0 : (adapter?.price ?? 0)
  const { asked, found, credits } = rates.find(({ provider }) => provider === name) ?? {
    asked: 0,
    found: 0,
    credits: 0,
  }
  const finds = found + SUPPOSED.found
  const paid = step.own_key ? 0 : credits
  const cost = (paid + price * SUPPOSED.found) / finds
  return { step, name, cost, rate: finds / (asked + SUPPOSED.asked), asked, found }
}

const describe = ({ name, cost, asked, found }: Rated): string =>
  `${name} ${Math.round(cost * 100) / 100} (${found} of ${asked} found)`
