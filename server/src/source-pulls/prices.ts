import type { Reached } from '../sources/reach.ts'
import { MILLIS } from '../store/organisation/credits.ts'

/** What a pull costs, in thousandths: each new record, and each page on which a model found some. */
export type Prices = { recordMillis: number; pageMillis: number }

/** Nothing on keys of one's own (D22). */
export function pricesOf({ pull, isOwn, model }: Reached): Prices {
  const millis = (credits: number) => (isOwn ? 0 : Math.round(credits * MILLIS))
  return {
    recordMillis: millis(pull.price),
    pageMillis: model === null ? 0 : millis(pull.model?.pagePrice ?? 0),
  }
}
