import type { FastifyRequest } from 'fastify'
import type { RouteServices } from '../../api/http/event-streams.ts'
import { createRunEnvironment } from '../../runs/run-environment.ts'

export type LendingParts = Pick<RouteServices, 'store' | 'sealer' | 'config' | 'egress' | 'gates' | 'models'>
export type Lend = ReturnType<typeof createLending>

/** The timeout of calls that a caller waits for. */
const TIMEOUT_MS = 25_000

/** Returns the keys and services with which the caller's organisation may call providers. */
export function createLending({ store, sealer, config, egress, gates, models }: LendingParts) {
  const environment = createRunEnvironment(store, sealer, config.providerKeys)
  return ({ caller }: FastifyRequest) => ({
    keys: environment.keysOfMember({ org_id: caller.orgId, member_id: caller.memberId }),
    services: {
      egress,
      gate: gates.of(caller.orgId),
      models,
      now: () => new Date(),
      owner: caller.orgId,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    },
  })
}
