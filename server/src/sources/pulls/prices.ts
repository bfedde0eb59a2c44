import { MILLIS } from '../../money/store/credits.ts'
import type { Reached } from '../reach.ts'
import type { Opened } from './create.ts'
import { priceOf } from './lookups.ts'

/**
 * The prices of a pull in thousandths of a credit: for each new record, and for each page on which a model found
 * records.
 */
export type Prices = { recordMillis: number; pageMillis: number }

/** Returns the prices of a pull. Own keys cost nothing (D22). */
export function findPullPrices({ pull, isOwn, model }: Reached): Prices {
  const millis = (credits: number) => (isOwn ? 0 : Math.round(credits * MILLIS))
  return {
    recordMillis: millis(pull.price),
    pageMillis: model === null ? 0 : millis(pull.model?.pagePrice ?? 0),
  }
}

/** Returns the cost of a source: a price per record or per page, and the maximum number of units if it is known. */
export function priceSource({ request, reached, lookups }: Opened): {
  units: number | null
  credits: number
  isOwnKey: boolean
  maxCredits: number | undefined
  trigger: 'source'
} {
  const { maxRecords } = request
  const given = { maxCredits: request.maxCredits ?? undefined, trigger: 'source' as const }
  if (reached === null) {
    const credits = Math.max(0, ...lookups.map(priceOf)) / MILLIS
    const isOwnKey = credits === 0 && lookups.some(({ isFree, lookup }) => isFree && lookup.price > 0)
    return { ...given, units: maxRecords, credits, isOwnKey }
  }
  const { recordMillis, pageMillis } = findPullPrices(reached)
  const { isOwn: isOwnKey } = reached
  return pageMillis > 0
    ? { ...given, units: null, credits: pageMillis / MILLIS, isOwnKey }
    : { ...given, units: maxRecords, credits: recordMillis / MILLIS, isOwnKey }
}
