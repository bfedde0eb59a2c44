import { type CellPrice, type PricedStep, sum } from '../../catalog/configuration/cell-price.ts'
import type { CellHistory } from '../../runs/store/foreseen-cells.ts'

/** The number of cells that must have settled before the history counts more than the list price. */
const ENOUGH = 20

/** The expected cost of a cell, and the part of each provider in it. */
export type Expectation = {
  credits: number
  basis: 'history' | 'list_price'
  byStep: Map<PricedStep, { hitRate: number | null; credits: number }>
}

/**
 * Estimates a cell. Without enough history, the first provider that can be asked finds a result and the first verifier
 * accepts it. With enough history, each provider is reached as often as those before it found nothing; a provider that was
 * never asked is expected to find a result.
 */
export function expectCell(price: CellPrice, history: CellHistory): Expectation {
  const isEnough = history.settled >= ENOUGH
  const findRate = ({ provider }: PricedStep): number | null => {
    const found = history.providers.find((one) => one.provider === provider)
    return found === undefined || found.asked === 0 ? null : found.hits / found.asked
  }
  const byStep: Expectation['byStep'] = new Map()
  const walk = (steps: readonly PricedStep[], reached: number): number => {
    let answered = 0
    let left = reached
    for (const step of steps) {
      const hitRate = findRate(step)
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
