import { type CellPrice, type PricedStep, sum } from '../../catalog/configuration/cell-price.ts'
import type { CellHistory } from '../../runs/store/foreseen-cells.ts'

/** So many cells must have settled before they say more than the list price does. */
const ENOUGH = 20

/** What a cell is expected to cost, and each provider's part in it. */
export type Expectation = {
  credits: number
  basis: 'history' | 'list_price'
  byStep: Map<PricedStep, { hitRate: number | null; credits: number }>
}

/**
 * Without enough history the first provider that can be asked answers, and the first that checks the answer accepts it. With
 * it each is reached as often as those before it had no answer, and a provider never asked is taken to answer.
 */
export function expectCell(price: CellPrice, history: CellHistory): Expectation {
  const isEnough = history.settled >= ENOUGH
  const rateOf = ({ provider }: PricedStep): number | null => {
    const found = history.providers.find((one) => one.provider === provider)
    return found === undefined || found.asked === 0 ? null : found.hits / found.asked
  }
  const byStep: Expectation['byStep'] = new Map()
  const walk = (steps: readonly PricedStep[], reached: number): number => {
    let answered = 0
    let left = reached
    for (const step of steps) {
      const hitRate = rateOf(step)
      const rate = isEnough ? (hitRate ?? 1) : 1
      const { credits, missCredits } = step.ownKey ? { credits: 0, missCredits: 0 } : step
      const asked = step.configured ? left : 0
      byStep.set(step, { hitRate, credits: asked * (rate * credits + (1 - rate) * missCredits) })
      answered += asked * rate
      left -= asked * rate
    }
    return answered
  }
  const answered = walk(price.steps, 1)
  walk(price.checks, answered)
  const ownRate = isEnough && price.steps.length === 0 ? history.hits / history.settled : 1
  const parts = [...byStep.values()].map(({ credits }) => credits)
  return {
    credits: sum([ownRate * price.credits, ...parts]),
    basis: isEnough ? 'history' : 'list_price',
    byStep,
  }
}
