/**
 * How long to wait before the next try: `firstMs`, then twice as long after each retry, up to `maxMs`. Half of it is left to
 * chance, so that those who failed together do not come back together.
 */
export function backoff(retries: number, { firstMs = 1000, maxMs = Infinity } = {}): number {
  return Math.min(maxMs, firstMs * 2 ** retries) * (0.5 + Math.random() / 2)
}
