import { didYouMean } from './nearest-name.ts'

/**
 * The parts that exist for speed alone, by name, with what happens when the part is off. The result is the same either
 * way. `npm run bench:engine -- --tags` measures what each of them buys.
 */
export const FAST_PARTS = {
  peek: 'rows of pure actions are claimed like all others',
  'joined-cells': 'each cell is settled before the next one is computed',
  'handed-rows': 'the first rows of a run wait in the queue for a worker',
  'row-groups': 'every row has a job of its own',
  'statement-batches': 'every row has statements of its own for claims, results and the cache',
  gathering: 'a batch of rows is sent at once, without waiting for more rows',
  lookahead: 'a cell is looked up in the cache when its turn comes',
  'cell-batches': 'cells of built-in actions do not share statements and transactions',
  'leases-ahead': 'a worker leases the credits that its cells ask for, and none for later cells',
  'quick-calls': 'rows in flight are twice the calls that may wait at once',
  'statement-names': 'PostgreSQL plans a statement each time',
  'begin-with': 'a transaction begins with a round trip of its own',
  'known-columns': 'the driver builds the columns of each result again',
  'readers-ahead': 'a reader gets the next document when it has finished one',
  'give-way': 'statements of rows have the priority of all others',
  yielding: 'rows do not yield to requests',
} as const

export type FastPart = keyof typeof FAST_PARTS

const NAMES = Object.keys(FAST_PARTS) as FastPart[]
let off: ReadonlySet<FastPart> = new Set()

export const isOn = (part: FastPart): boolean => !off.has(part)

/** Switches parts off for the whole process, and all others on. Returns a function that restores what was before. */
export function switchOff(parts: Iterable<FastPart>): () => void {
  const before = off
  off = new Set(parts)
  return () => {
    off = before
  }
}

/**
 * Reads the names of parts, separated by commas; `all` means every part. Throws an error that lists the names if one is
 * unknown.
 */
export function readFastParts(names: string): FastPart[] {
  const given = names.split(',').flatMap((name) => name.trim() || [])
  if (given.includes('all')) return NAMES
  return given.map((name) => {
    const part = NAMES.find((one) => one === name)
    if (part !== undefined) return part
    throw new Error(`${name} is no fast part (${NAMES.join(', ')})${didYouMean(name, NAMES)}`)
  })
}
