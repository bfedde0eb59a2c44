import type { ProviderGates } from '../../catalog/provider/access.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import { createAnnouncer } from '../../database/connection/announcer.ts'
import type { Store } from '../../database/connection/db.ts'
import { createSlots } from '../../lib/timing/slots.ts'
import { createProviderCounter } from '../../money/provider-counter.ts'
import { createProviderRates } from '../../money/provider-rates.ts'
import { takeMailTurn } from '../../organisation/store/mail-quota.ts'
import { createCellIngest } from '../../records/cell-ingest.ts'
import { createCellLookup } from '../../records/cell-lookup.ts'
import { createSheetAccess } from '../cell-access/sheet-access.ts'
import { createSheetSends } from '../cell-access/sheet-sends.ts'
import { createSheetWalks } from '../cell-access/sheet-walk.ts'
import { createTargetReach } from '../cell-access/target-sheet.ts'
import { createUniqueness } from '../cell-access/uniqueness.ts'
import { createCellCache } from './cells/cache.ts'
import { createLargeOutputs } from './cells/large-outputs.ts'
import { createRecordAccess } from './cells/record-access.ts'
import { createEnding } from './ending.ts'
import type { Engine } from './engine-context.ts'
import { PureRuns } from './fast/pure-runs.ts'
import { createFlightStore } from './flights/flight-store.ts'
import { createLargeRows } from './flights/large-rows.ts'
import { Reservations } from './leases/reservations.ts'
import { createRunSettings } from './run-setting.ts'
import { createSuspects } from './suspects.ts'

const EXPRESS_SLOTS = 64

export type EngineParts = Omit<Engine['services'], 'gates'> &
  Pick<Engine, 'log' | 'environment'> & {
    store: Store
    catalogue: Catalogue
    gates: ProviderGates & { flush(): Promise<void> }
    ending: AbortSignal
    /** The number of cells that may wait for other services at once, in this process. */
    concurrency?: number
  }

/** Creates everything that walking rows needs, over one store. */
export function createEngine(parts: EngineParts): Engine {
  const { store, catalogue, log, environment, concurrency = 1000 } = parts
  const { egress, sandbox, models, pages, mail, gates } = parts
  const lane = Math.floor(Math.random() * 1_000_000)
  const ending = createEnding(parts.ending)
  const flights = createFlightStore(store, lane)
  const announcer = createAnnouncer(store, log)
  const counter = createProviderCounter(store, log)
  const judgeUnique = createUniqueness(store)
  const sendRows = createSheetSends(store, catalogue)
  const lookUp = createSheetWalks(store)
  const reachTarget = createTargetReach(store, catalogue)
  const reservations = new Reservations(store, log)
  const records = { ingest: createCellIngest(store), lookup: createCellLookup(store) }
  return {
    flights,
    reservations,
    suspects: createSuspects({ mark: (flight, size) => flights.markTested(flight, size), ending }),
    cache: createCellCache(store, ending),
    readLargeOutputs: createLargeOutputs(store),
    withInputs: createLargeRows(store, () => ending.hasBegun()),
    log,
    ending,
    slots: { bulk: createSlots(concurrency), express: createSlots(EXPRESS_SLOTS) },
    services: { egress, sandbox, models, pages, mail, gates },
    environment,
    takeMailTurn: (of) => takeMailTurn(store.system, of),
    announce: (sheetId) => announcer.announce(sheetId),
    ratesOf: createProviderRates(store.system),
    countProviders: (org, cells) => counter.count(org, cells),
    flush: async () =>
      void (await Promise.all([announcer.flush(), gates.flush(), counter.flush(), reservations.flush()])),
    pureRuns: new PureRuns(),
    settingOf: createRunSettings({ store, flights, environment, catalogue }),
    sheetsFor: (flight, signal, database) =>
      createSheetAccess(store, flight, { signal, database, judgeUnique, sendRows, lookUp, reachTarget }),
    recordsFor: (flight, database) => createRecordAccess(store, flight, { database, ...records }),
  }
}
