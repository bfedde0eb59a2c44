import type { ProviderKeys } from '../../catalog/provider/access.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { invalid, validationError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Sealer } from '../../lib/security/secrets.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { databaseTime } from '../../runs/store/schedules.ts'
import type { Source } from '../define.ts'
import {
  isReached,
  type Reached,
  type ReachedLookup,
  reachLookups,
  reachSource,
  type SourceServices,
} from '../reach.ts'
import { readRequest, type SourceRequest } from '../request.ts'
import { insertSource, type SourceRecord } from '../store/sources.ts'
import { LOCALHOST } from '../systems/visitors/site.ts'
import { openReception } from './inbox/reception.ts'
import { queuePull } from './jobs.ts'
import { toCronLine, nextTick } from './schedule.ts'

/** A checked request with the provider to read from. `reached` is null for a source that receives. */
export type Opened = { request: SourceRequest; reached: Reached | null; lookups: ReachedLookup[] }

/** Parses a body and finds the provider. A 400 names every wrong field, or what to connect and how. */
export async function openRequest(
  source: Source,
  raw: unknown,
  keys: ProviderKeys,
  services: SourceServices,
): Promise<Opened> {
  const request = readRequest(source, raw ?? {})
  if (source.receives !== null) {
    if (request.body['active_domain'] === LOCALHOST && !services.egress.allowsLocalhost) {
      throw invalid('active_domain', 'add localhost to LOAM_EGRESS_ALLOW to test visitors on this machine')
    }
    const lookups = await reachLookups(source.receives, request.connection, keys)
    if (!Array.isArray(lookups)) throw validationError([lookups])
    return { request, reached: null, lookups }
  }
  const reached = await reachSource(source, request, keys, services)
  if (!isReached(reached)) throw validationError([reached])
  return { request, reached, lookups: [] }
}

/** Creates a source. Its first pull is queued; a source that receives gets its addresses instead. */
export async function createSource(
  db: Db,
  actor: Actor,
  { orgId, memberId }: { orgId: string; memberId: string | null },
  { source, request, reached, sealer }: Omit<Opened, 'lookups'> & { source: Source; sealer: Sealer },
): Promise<SourceRecord> {
  const { slug } = source
  return inTransaction(db, async (trx) => {
    const now = await databaseTime(trx)
    if (request.stopAt !== null && request.stopAt <= now) throw invalid('stop_at', 'must be in the future')
    const cron = request.schedule === null ? null : toCronLine(request.schedule, now)
    if (cron !== null && nextTick(cron, now, null) === null) {
      throw invalid('schedule', `no date ever matches ${cron}`)
    }
    const made = await insertSource(trx, {
      org_id: orgId,
      instance_id: newId(),
      slug,
      name: request.name ?? source.name,
      body: request.given,
      provider: source.receives?.from.id ?? reached?.pull.provider.id ?? '',
      connection: request.connection,
      owner_id: memberId,
      created_by: actor.email,
      schedule: request.schedule,
      cron,
      stop_at: request.stopAt,
      pull_existing: request.pullExisting,
      max_records: request.maxRecords,
      max_credits_millis: request.maxCredits === null ? null : Math.round(request.maxCredits * MILLIS),
      next_pull_at: source.receives === null ? now : null,
    })
    const details = { source_id: slug, name: made.name }
    await recordAudit(trx, orgId, actor, { action: 'source.created', target: made.instance_id, details })
    if (source.receives === null) await queuePull(trx, made)
    else await openReception(trx, sealer, made, source.receives)
    return made
  })
}
