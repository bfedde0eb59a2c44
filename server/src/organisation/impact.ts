import { sql } from 'kysely'
import type { ImpactWarning } from '#contract/members.ts'
import type { Db } from '../database/connection/db.ts'
import { reasonOf } from '../lib/errors.ts'
import { plural } from '../lib/plural.ts'
import { listWorkflowsOwnedBy } from '../sheets/store/workflows.ts'
import { listSourcesOwnedBy } from '../sources/store/sources.ts'
import { listWorkflowsRelyingOn } from './store/connections.ts'

export type Impact = { warnings: ImpactWarning[]; unknownBecause?: string }

/**
 * Returns what the organisation would lose with a member. The queries run in the transaction of the removal;
 * a failed statement would abort it, so they run inside a savepoint: an unknown impact never blocks the
 * removal.
 */
export async function assessRemoval(trx: Db, orgId: string, memberId: string): Promise<Impact> {
  await sql`savepoint impact`.execute(trx)
  try {
    const warnings = [
      ...(await warnOfLostConnections(trx, orgId, memberId)),
      ...(await warnOfOwnerlessWorkflows(trx, orgId, memberId)),
      ...(await warnOfOwnerlessSources(trx, orgId, memberId)),
    ]
    await sql`release savepoint impact`.execute(trx)
    return { warnings }
  } catch (cause) {
    await sql`rollback to savepoint impact`.execute(trx)
    return { warnings: [UNKNOWN], unknownBecause: reasonOf(cause) }
  }
}

const UNKNOWN: ImpactWarning = {
  code: 'IMPACT_UNKNOWN',
  message: 'The member was removed, but it could not be determined what depended on them',
}

async function warnOfLostConnections(trx: Db, orgId: string, memberId: string): Promise<ImpactWarning[]> {
  const relying = await listWorkflowsRelyingOn(trx, orgId, memberId)
  if (relying.length === 0) return []
  return [
    {
      code: 'WORKFLOWS_LOST_CONNECTION',
      message: `${plural(relying.length, 'workflow runs', 'workflows run')} on a connection that was removed with the member; connect the provider again`,
      resources: relying.map(({ workflow_id, name }) => ({ id: workflow_id, name, type: 'workflow' })),
    },
  ]
}

async function warnOfOwnerlessWorkflows(trx: Db, orgId: string, memberId: string): Promise<ImpactWarning[]> {
  const owned = await listWorkflowsOwnedBy(trx, orgId, memberId)
  if (owned.length === 0) return []
  return [
    {
      code: 'WORKFLOWS_LOST_OWNER',
      message: `${plural(owned.length, 'workflow has', 'workflows have')} no owner now; admins act as owner`,
      resources: owned.map(({ workflow_id, name }) => ({ id: workflow_id, name, type: 'workflow' })),
    },
  ]
}

async function warnOfOwnerlessSources(trx: Db, orgId: string, memberId: string): Promise<ImpactWarning[]> {
  const owned = await listSourcesOwnedBy(trx, orgId, memberId)
  if (owned.length === 0) return []
  return [
    {
      code: 'SOURCES_LOST_OWNER',
      message: `${plural(owned.length, 'source has', 'sources have')} no owner now and can use shared connections only`,
      resources: owned.map(({ instance_id, name }) => ({ id: instance_id, name, type: 'source' })),
    },
  ]
}
