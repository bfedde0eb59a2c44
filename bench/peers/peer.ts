/** So many rows with so many no-op actions each; every result is about 200 bytes of JSON. */
export type Load = { rows: number; actions: number }

/** Another way to run the same load. */
export type Peer = {
  name: string
  /** Answers the seconds from the first job added to the last result stored. */
  run(load: Load): Promise<number>
  close(): Promise<void>
}

/** A full name that makes a cell of `split_full_name` as large as RESULT is. Of one word, so that there is little to split. */
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

/** A peer with the concurrency that suits it best here, found by a short try of each. */
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
