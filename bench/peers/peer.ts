/**
 * The load: a number of rows with a number of no-op actions each. Every result is about 200 bytes of JSON.
 */
export type Load = { rows: number; actions: number }

/** Another system that runs the same load. */
export type Peer = {
  name: string
  /** Runs the load. Returns the seconds from the first added job to the last stored result. */
  run(load: Load): Promise<number>
  close(): Promise<void>
}

/**
 * Returns a full name that makes a cell of `split_full_name` as large as RESULT. It is almost one word, so
 * that there is little to split.
 */
export const nameOf = (n: number): string => `${'Ada-Augusta-'.repeat(9)}Lovelace${n}`

export const RESULT = {
  first: 'Ada-Augusta-'.repeat(9) + 'Lovelace12345',
  middle: '',
  last: '',
  prefix: '',
  suffix: '',
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

const CONCURRENCIES = [50, 200, 1000]

/** Opens a peer with the concurrency that suits it best on this machine, found by a short trial of each. */
export async function openAtItsBest(open: (concurrency: number) => Promise<Peer>, load: Load): Promise<Peer> {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (const concurrency of CONCURRENCIES) {
    const peer = await open(concurrency)
    const seconds = await peer.run(load)
    await peer.close()
    if (seconds < least) [best, least] = [concurrency, seconds]
  }
  const peer = await open(best)
  return { ...peer, name: `${peer.name}, concurrency ${best} (best of ${CONCURRENCIES.join(', ')})` }
}
