import { type Handle, listenForEnd, findOpener } from '../connection/transaction-end.ts'
import type { RunFacts } from './run-facts.ts'

/**
 * Rows of a run whose jobs belong to a worker of this process from the start, with everything the worker would have to read.
 */
export type HandedRows = { facts: RunFacts; ticket: number; rows: readonly HandedRow[] }
export type HandedRow = {
  job: number
  r: string
  /** The row's data as a claim reads it: JSON text, or for a large row its size in bytes. */
  data: string | null
  cells: string | null
}

/** The part of a process that takes jobs made in the same process. */
export type JobTaker = {
  /** Reserves places for jobs. Returns null if there are not enough. */
  reserve(count: number): Places | null
}

/** Places for some jobs, reserved until the transaction that makes the jobs has ended. */
type Places = {
  /** The worker that owns the jobs. */
  workerId: string
  begin(handed: HandedRows): void
  /** Gives the places up, as there are no jobs. If `isInDoubt`, the jobs may exist all the same. */
  giveUp(isInDoubt: boolean): void
}

/** The hand-over of one store. `taker` is null while no worker of the process uses the store. */
export type HandOver = { taker: JobTaker | null }

const handOvers = new WeakMap<Handle, HandOver>()

export function noteHandOver(db: Handle, handOver: HandOver): void {
  handOvers.set(db, handOver)
}

export type HandingOver = {
  workerId: string
  count: number
  /** Records the rows that the transaction made. The worker begins with them after the commit. */
  made(handed: HandedRows): void
}

/** Reserves places for jobs that are made in this transaction. Returns null if no worker of the process can take them. */
export function reservePlaces(trx: Handle, count: number): HandingOver | null {
  const opener = findOpener(trx)
  const places = opener === undefined ? undefined : handOvers.get(opener)?.taker?.reserve(count)
  if (places === undefined || places === null) return null
  let handed: HandedRows | undefined
  listenForEnd(trx, (isCommitted) => {
    if (isCommitted && handed !== undefined) places.begin(handed)
    else places.giveUp(handed !== undefined)
  })
  return { workerId: places.workerId, count, made: (rows) => void (handed = rows) }
}
