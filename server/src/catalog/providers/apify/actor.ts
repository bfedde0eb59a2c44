import type { ProviderRequest } from '../../provider/provider.ts'

/** Runs an actor and waits for the items that it collects. */
export function runActor(actor: string, input: object): ProviderRequest {
  return { method: 'POST', path: `/v2/acts/${actor}/run-sync-get-dataset-items`, json: input }
}
