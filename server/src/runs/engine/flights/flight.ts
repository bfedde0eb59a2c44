import type { CellStatus } from '#contract/rows.ts'
import type { Provenance } from '../../../catalog/outcome.ts'
import type { RunFacts } from '../../../database/queue/run-facts.ts'
import type { StoredJson } from '../../../lib/json/stored-json.ts'
import type { Refusal } from '../../../money/store/limits/leasing.ts'
import type { StoredBilling } from '../../store/runs.ts'
import type { Reservation } from '../leases/lease.ts'

/** The reference in a job: the flight of a row, and which of its jobs this is. */
export type RowJob = {
  o: string
  r: string
  t: number
  /** The run that had the row when the job was made. Another run may have it by now. */
  run?: string | undefined
}

export type { RunFacts }

/** The row as it was claimed. */
export type FlightRow = Readonly<{
  id: string
  /** JSON text keyed by column number. Null if the row has been deleted, or its inputs are not read yet. */
  data: string | null
  /** The size in the database of inputs that are not read yet. */
  unreadBytes: number
  /** JSON text: status and outputs by action. Null if there are none. */
  cells: string | null
}>

/**
 * A worker that does not have the latest of these values writes nothing. A claim raises the attempt, parking raises the
 * ticket.
 */
export type Fence = Readonly<{ run: string; ticket: number; attempt: number }>

/** The place of the flight in its run. It changes while the flight is walked, by the functions of position.ts. */
export type Position = {
  /** The action of the current cell: the first one of the run without a result. */
  action: string
  retries: number
  /** Credits reserved for the current cell, in thousandths. */
  heldMillis: number
  /** The reservation of all cells that are not settled yet. */
  reservation: Reservation | null
  /** The reason why the cell got no more credits, when it last asked. */
  refusal: Refusal | null
  /** The state that the cell handed over when it was parked. */
  state: unknown
  /** The number of times that the cell was claimed without a result, this claim included. */
  stalledClaims: number
  /** Set if an earlier claim of the cell, by any worker, has neither settled nor parked it. */
  isTakenOver: boolean
  /** Set if a cell of the run before the current one failed. */
  hasFailed: boolean
  /** The number of suspects that the cell was being tried with when its worker died. 0: alone, for the second time. */
  testedIn: number | null
}

/** A row in flight. */
export type Flight = Readonly<{
  facts: RunFacts
  row: FlightRow
  fence: Fence
  position: Position
  /** The state of the run when the flight was claimed. */
  runState: string
}>

/** The stored answer that the cell was given, or the limit that had too little left for it. */
export type CellBilling = StoredBilling

/** The result of one cell, ready to be written. */
export type SettledCell = {
  action: string
  /** The action of the catalogue, given for cells that cost credits, and for those that ask providers in order. */
  actionId?: string | undefined
  /** The action of the catalogue, given for every cell. */
  template?: string | undefined
  status: CellStatus
  outputs?: Record<string, unknown> | StoredJson | undefined
  error?: string | undefined
  creditsMillis: number
  cached: boolean
  provenance?: Provenance[] | undefined
  startedAt: number
  /** The provider that gave the answer, if the action asked several. */
  provider?: string | undefined
  billing?: CellBilling | undefined
  /** The key under which the cell was claimed, and whether its result is stored there. */
  cache?: { key: string; epoch: number; keep: boolean } | undefined
  /** Set if outputs of this action are known only from its runs. */
  learns?: boolean | undefined
}

/** Results of a row, in the order of its chain. The retries and state of the flight belong to the first. */
export type Settlement = {
  cells: SettledCell[]
  /** The action to go on with, or null if the row ends here. */
  next: string | null
}

export type Parking = { ms: number; retries: number; state?: unknown; priority?: number }
