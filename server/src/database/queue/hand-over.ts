import { type Handle, hearEnd, openerOf } from '../connection/transaction-end.ts'
import type { RunFacts } from './run-facts.ts'

/** Rows of a run whose jobs are a worker's of this process from the start, with what it would have to read. */
export type HandedRows = { facts: RunFacts; ticket: number; rows: readonly HandedRow[] }
export type HandedRow = {
  job: number
  r: string
  /** As of a claim: JSON text, or what large ones take. */
  data: string | null
  cells: string | null
}

/** Who takes jobs in the process that makes them. */
export type JobTaker = {
  /** Null when there is no room. */
  reserve(count: number): Places | null
}

/** Room for some jobs, kept until the transaction that makes them has ended. */
type Places = {
  /** Whose the jobs are. */
  workerId: string
  begin(handed: HandedRows): void
  /** There are none. In doubt they may be there all the same. */
  giveUp(isInDoubt: boolean): void
}

/** Of one store; empty while no worker of the process is at work on it. */
export type HandOver = { taker: JobTaker | null }

const handOvers = new WeakMap<Handle, HandOver>()

export function noteHandOver(db: Handle, handOver: HandOver): void {
  handOvers.set(db, handOver)
}

export type HandingOver = {
  workerId: string
  count: number
  /** What was made in the transaction: the worker begins with it when that is committed. */
  made(handed: HandedRows): void
}

/** Places for jobs that are made in this transaction; null where a worker of the process cannot have them. */
export function reservePlaces(trx: Handle, count: number): HandingOver | null {
  const opener = openerOf(trx)
  const places = opener === undefined ? undefined : handOvers.get(opener)?.taker?.reserve(count)
  if (places === undefined || places === null) return null
  let handed: HandedRows | undefined
  hearEnd(trx, (isCommitted) => {
    if (isCommitted && handed !== undefined) places.begin(handed)
    else places.giveUp(handed !== undefined)
  })
  return { workerId: places.workerId, count, made: (rows) => void (handed = rows) }
}
