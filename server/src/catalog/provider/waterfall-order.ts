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
    const offers = adapters.map(({ provider: { id, name }, price }) => ({ id, name, credits: price }))
    const sorted = sortByFinds(steps, offers, rates)
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

/** A provider with its name and its price. */
type Offer = { id: string; name: string; credits?: number | undefined }

/** Sorts steps by the price of a find, as `orderByFinds` does. */
export const sortByFinds = (
  steps: readonly WaterfallStep[],
  offers: readonly Offer[],
  rates: readonly ProviderRate[],
): Rated[] =>
  steps.map((step) => rateStep(step, offers, rates)).toSorted((a, b) => a.cost - b.cost || b.rate - a.rate)

function rateStep(step: WaterfallStep, offers: readonly Offer[], rates: readonly ProviderRate[]): Rated {
  const offer = offers.find(({ id }) => id === step.provider)
  const name = offer?.name ?? step.provider
  const price = step.own_key ? 0 : (offer?.credits ?? 0)
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
