import type { CellStatus } from '#contract/rows.ts'
import type { Provenance } from '../../../catalog/outcome.ts'
import type { RunFacts } from '../../../database/queue/run-facts.ts'
import type { StoredJson } from '../../../lib/json/stored-json.ts'
import type { Refusal } from '../../../money/store/purses/take.ts'
import type { StoredBilling } from '../../store/runs.ts'
import type { Hold } from '../purses/share.ts'

/** What a job names: the flight of a row, and which of its jobs this is. */
export type RowJob = {
  o: string
  r: string
  t: number
  /** The run that had the row when the job was made; another may have it by now. */
  run?: string | undefined
}

export type { RunFacts }

/** The row as it was claimed. */
export type FlightRow = Readonly<{
  id: string
  /** JSON text keyed by column number; null when the row is gone, or its inputs are not read yet. */
  data: string | null
  /** What inputs that are not read yet take in the database. */
  unreadBytes: number
  /** JSON text: status and outputs by action; null when there are none. */
  cells: string | null
}>

/** Whoever does not have the latest of these writes nothing. A claim raises the attempt, parking the ticket. */
export type Fence = Readonly<{ run: string; ticket: number; attempt: number }>

/** Where the flight is in its run. Only position.ts changes it. */
export type Position = Readonly<{
  /** The cell at hand: the first action of the run that has no result yet. */
  action: string
  retries: number
  /** Credits set aside for the cell at hand, in thousandths. */
  heldMillis: number
  /** The same for all cells that are not settled yet. */
  hold: Hold | null
  /** Why the cell got no more, when it last asked. */
  refusal: Refusal | null
  /** What the cell handed over when it was parked. */
  state: unknown
  /** How often the cell was claimed without a result, this claim included. */
  stalledClaims: number
  /** Whoever claimed the cell before, this worker included, has neither settled nor parked it. */
  isTakenOver: boolean
  /** Among how many suspects the cell was being tried when its worker died; 0: alone, for the second time. */
  testedIn: number | null
}>

/** A row in the air. */
export type Flight = Readonly<{
  facts: RunFacts
  row: FlightRow
  fence: Fence
  position: Position
  /** Of the run, when the flight was claimed. */
  runState: string
}>

/** Which stored answer it was given, or what had too little left for it. */
export type CellBilling = StoredBilling

/** The result of one cell, ready to be written. */
export type SettledCell = {
  action: string
  /** Of the catalogue; said of cells that cost something, and of those that ask providers in order. */
  actionId?: string | undefined
  /** Of the catalogue, said of every cell. */
  template?: string | undefined
  status: CellStatus
  outputs?: Record<string, unknown> | StoredJson | undefined
  error?: string | undefined
  creditsMillis: number
  cached: boolean
  provenance?: Provenance[] | undefined
  startedAt: number
  /** Who gave the answer, where the action asked several. */
  provider?: string | undefined
  billing?: CellBilling | undefined
  /** The key under which it was claimed, and whether the result is kept there. */
  cache?: { key: string; epoch: number; keep: boolean } | undefined
  /** Outputs of this action are known only from its runs. */
  learns?: boolean | undefined
}

/** Results of a row, in the order of its chain. What the flight went through belongs to the first. */
export type Settlement = {
  cells: SettledCell[]
  /** The action to go on with; null when the row ends here. */
  next: string | null
}

export type Parking = { ms: number; retries: number; state?: unknown; priority?: number }
