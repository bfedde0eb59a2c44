import { rate } from '../engine/engine-line.ts'
import { median, note } from './report.ts'

/** Does the work once and returns its rate in cells per second. */
type Work = () => Promise<number>

/**
 * Runs several kinds of work in turns, every other round in the opposite order, and returns the rates of each
 * by round. If other processes use the processors too, the same work takes half as long again some seconds
 * later: so only neighbours in time can be compared (`shareOf`).
 */
export async function takeTurns<Name extends string>(
  id: string,
  rounds: number,
  works: Record<Name, Work>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(works) as Name[]
  const rates = Object.fromEntries<number[]>(names.map((name) => [name, []])) as Record<Name, number[]>
  for (let round = 1; round <= rounds; round += 1) {
    for (const name of round % 2 === 1 ? names : names.toReversed()) rates[name].push(await works[name]())
    const found = names.map((name) => `${name} ${rate(rates[name].at(-1) ?? 0)}`)
    note(`${id}, round ${round}: ${found.join(', ')}`)
  }
  return rates
}

/** Returns the ratio of two rates: the median of all rounds. */
export const shareOf = (ones: readonly number[], others: readonly number[]): number =>
  median(ones.map((one, round) => one / (others[round] ?? Number.NaN)))
