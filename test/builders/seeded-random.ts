/**
 * Creates a generator of numbers from 0 up to 1. The same seed gives the same numbers (a linear congruential
 * generator).
 */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
