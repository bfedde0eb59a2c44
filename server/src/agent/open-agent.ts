import type { PageReaders } from '../catalog/agent/page-reader.ts'
import { createSandbox } from '../catalog/formula/sandbox.ts'
import { createModels } from '../catalog/models/models.ts'
import type { ProviderGates } from '../catalog/provider/access.ts'
import type { Store } from '../database/connection/db.ts'
import type { Config } from '../lib/config/config.ts'
import type { Egress } from '../lib/egress/egress.ts'
import type { Log } from '../lib/log.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { createRunEnvironment } from '../runs/run-environment.ts'
import { type Agent, createAgent } from './agent.ts'

/** Opens the agent of an API process, with the services that only the agent needs. */
export function openAgent(parts: {
  config: Config
  log: Log
  store: Store
  sealer: Sealer
  egress: Egress
  gates: ProviderGates
  pages: PageReaders
}): { agent: Agent; close: () => Promise<void> } {
  const { config, store, sealer, egress, gates, pages } = parts
  const sandbox = createSandbox({
    carrier: config.LOAM_SANDBOX,
    onFault: (fault) => parts.log.warn(fault, 'the sandbox of the agent failed and was replaced'),
  })
  const models = createModels(config)
  const agent = createAgent({
    config,
    egress,
    sandbox,
    models,
    gates,
    pages,
    environment: createRunEnvironment(store, sealer, config.providerKeys),
  })
  return { agent, close: async () => void (await Promise.all([models.close(), sandbox.close()])) }
}
