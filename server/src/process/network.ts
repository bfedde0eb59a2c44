import { createModels, type Models } from '../catalog/models/models.ts'
import type { Config } from '../lib/config/config.ts'
import { createEgress, type Egress } from '../lib/egress/egress.ts'
import { egressSettings } from '../lib/egress/settings.ts'

/** The clients for calls to other systems. */
export type Network = { egress: Egress; models: Models }

/** Opens the clients of a process. Call it once: `withNetwork` does so for a command, `openOutside` for a server. */
export function openNetwork(config: Config): Network & { close: () => Promise<void> } {
  const egress = createEgress(egressSettings(config))
  const models = createModels(config)
  return { egress, models, close: async () => void (await Promise.all([egress.close(), models.close()])) }
}

/** Lends the clients to a command until its work ends. */
export async function withNetwork<Result>(
  config: Config,
  work: (network: Network) => Promise<Result>,
): Promise<Result> {
  const { close, ...network } = openNetwork(config)
  try {
    return await work(network)
  } finally {
    await close()
  }
}
