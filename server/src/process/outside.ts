import { openPageReaders, type PageReaders } from '../catalog/agent/page-reader.ts'
import { createSandbox, type SandboxPool } from '../catalog/formula/sandbox.ts'
import type { ProviderGates } from '../catalog/provider/access.ts'
import type { Store } from '../database/connection/db.ts'
import type { Config } from '../lib/config/config.ts'
import type { Log } from '../lib/log.ts'
import { hasSeveralOrganisations } from '../organisation/store/organisations.ts'
import { createProviderGates } from '../runs/provider-gate/provider-gate.ts'
import { type Network, openNetwork } from './network.ts'

/**
 * The ways by which requests and rows reach other systems or run code of strangers. A process opens it once, so
 * that they share one browser, one sandbox, and one count of each provider's calls.
 */
export type Outside = Network & {
  sandbox: SandboxPool
  pages: PageReaders
  gates: ProviderGates & { flush(): Promise<void> }
  /** Closes all of it. Requests and rows must have ended, and the store must still be open. */
  close(): Promise<void>
}

export async function openOutside({
  config,
  log,
  store,
}: {
  config: Config
  log: Log
  store: Store
}): Promise<Outside> {
  const isShared = await hasSeveralOrganisations(store.system)
  const network = openNetwork(config)
  const sandbox = createSandbox({
    carrier: config.LOAM_SANDBOX ?? (isShared ? 'process' : undefined),
    onFault: (fault) => log.warn(fault, 'the sandbox of expressions failed and was replaced'),
  })
  const pages = openPageReaders(config)
  const gates = createProviderGates(store, log)
  return {
    ...network,
    sandbox,
    pages,
    gates,
    async close() {
      await gates.flush()
      await Promise.all([network.close(), sandbox.close(), pages.close()])
    },
  }
}
