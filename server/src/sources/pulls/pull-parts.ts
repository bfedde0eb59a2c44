import type { ProviderGates } from '../../catalog/provider/access.ts'
import type { Store } from '../../database/connection/db.ts'
import type { Log } from '../../lib/log.ts'
import type { Sealer } from '../../lib/security/secrets.ts'
import type { RunEnvironment } from '../../runs/run-environment.ts'
import type { SourceServices } from '../reach.ts'
import type { SourceCatalogue } from '../registry.ts'
import type { BatchLimits } from './page-batch.ts'

/** The services that pulling a source needs. */
export type PullParts = {
  store: Store
  sources: SourceCatalogue
  keysOf: RunEnvironment['keysOfMember']
  services: Omit<SourceServices, 'signal' | 'gate'> & { gates: ProviderGates }
  log: Log
  /** Decrypts what arrived for sources that receive. */
  sealer: Sealer
  /** The limits for writing pages together. */
  batches?: BatchLimits
}
