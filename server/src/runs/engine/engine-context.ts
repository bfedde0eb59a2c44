import type { PageReaders } from '../../catalog/agent/page-reader.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import type { RowScope } from '../../catalog/chain/row-scope.ts'
import type { MailTurn } from '../../catalog/define.ts'
import type { ActionContext, SheetAccess } from '../../catalog/define.ts'
import type { SandboxPool } from '../../catalog/formula/sandbox.ts'
import type { ProviderGates } from '../../catalog/provider/access.ts'
import type { ProviderRate } from '../../catalog/provider/context.ts'
import type { RecordAccess } from '../../catalog/records/access.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Log } from '../../lib/log.ts'
import type { EnvValues } from '../../lib/security/env-values.ts'
import type { Slots } from '../../lib/timing/slots.ts'
import type { takeMailTurn } from '../../organisation/store/mail-quota.ts'
import type { RunEnvironment } from '../run-environment.ts'
import type { CacheHit } from './cells/cache-hits.ts'
import type { CellCache } from './cells/cache.ts'
import type { DatabaseUse } from './cells/database-use.ts'
import type { ReadLargeOutputs } from './cells/large-outputs.ts'
import type { Ending } from './ending.ts'
import type { PureRuns } from './fast/pure-runs.ts'
import type { FlightStore } from './flights/flight-store.ts'
import type { Flight, SettledCell } from './flights/flight.ts'
import type { WithInputs } from './flights/large-rows.ts'
import type { Reservations } from './leases/reservations.ts'
import type { SettingOf } from './run-setting.ts'
import type { Suspects } from './suspects.ts'

/** The parts that walking a row needs. engine.ts puts it together. */
export type Engine = {
  flights: FlightStore
  reservations: Reservations
  cache: CellCache
  readLargeOutputs: ReadLargeOutputs
  /** Reads the large inputs of a flight before it is walked. */
  withInputs: WithInputs
  log: Log
  /** The services that every action may use. */
  services: Pick<ActionContext, 'egress' | 'models' | 'mail'> & {
    sandbox: SandboxPool
    pages: PageReaders
    gates: ProviderGates
  }
  environment: RunEnvironment
  /** Counts recipients against the number that an organisation may mail in an hour. */
  takeMailTurn: (of: Parameters<typeof takeMailTurn>[1]) => Promise<MailTurn>
  /** Announces to those who watch a sheet that something of it has changed. */
  announce(sheetId: string): void
  /** Returns what providers did lately for an action of the catalogue. */
  ratesOf(org: string, action: string): Promise<readonly ProviderRate[]>
  /** Counts what providers did for settled cells of waterfalls. */
  countProviders(org: string, cells: readonly SettledCell[]): void
  /**
   * Resolves when everything that no row waits for is written to the database. It is for the end, when no row is walked
   * any more.
   */
  flush(): Promise<void>
  settingOf: SettingOf
  /** Returns what the flight's action may do with rows, until `signal` aborts. */
  sheetsFor(flight: Flight, signal: AbortSignal, database: DatabaseUse): SheetAccess
  /** Returns what the flight's action may do with the record store. */
  recordsFor(flight: Flight, database: DatabaseUse): RecordAccess
  pureRuns: PureRuns
  suspects: Suspects
  /**
   * Limits the actions that wait for other services at once: those of bulk rows, and those of the first rows of each
   * run.
   */
  slots: { bulk: Slots; express: Slots }
  /** The end of the process. Rows are then parked after their current cell. */
  ending: Ending
}

/** A cell that is looked up in the cache: the inputs of its action, its key, and what was found. */
export type Lookup = {
  inputs: Record<string, unknown>
  key: string
  hit: CacheHit | null
}

/** The state of walking a flight that a worker has claimed or peeked at. */
export type RowWalk = {
  flight: Flight
  definition: Definition
  catalogue: Catalogue
  scope: RowScope
  env: EnvValues
  express: boolean
  /** Ends the priority of the row as foreground work, when the row itself has to wait. */
  endPriority: (() => void) | undefined
  /** The number of cells of pure actions, and of results from the cache, that are written together. */
  together: number
  /** Set if the row is unclaimed. Its cells are then written all at once, or not at all. */
  peeked: boolean
  /** The action whose cell was not found in the cache just now. */
  missing: string | null
  /** Set if an action that is not pure was called. */
  hasCalled: boolean
  /** The cells that are looked up in the cache before their turn, or null if there are none. */
  lookups: Map<string, Lookup> | null
}
