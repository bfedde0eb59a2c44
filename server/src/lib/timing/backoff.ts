/**
 * Returns the delay before the next retry: `firstMs`, doubled after each retry, up to `maxMs`. Half of the
 * delay is random, so that callers that failed together do not retry together.
 */
export function backoff(retries: number, { firstMs = 1000, maxMs = Infinity } = {}): number {
  return Math.min(maxMs, firstMs * 2 ** retries) * (0.5 + Math.random() / 2)
}
