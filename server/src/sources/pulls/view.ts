import type { SourceInstance, SourceState } from '#contract/sources.ts'
import { MILLIS } from '../../money/store/credits.ts'
import type { SyncRecord } from '../store/source-syncs.ts'
import type { listSources, SourceRecord } from '../store/sources.ts'
import type { Reception } from './inbox/reception.ts'
import { awaitedFields } from './mapped-fields.ts'

type Listed = Awaited<ReturnType<typeof listSources>>[number]

export function viewSource(source: Listed): SourceInstance {
  return {
    source_instance_id: source.instance_id,
    name: source.name,
    source_id: source.slug,
    status: source.status,
    lead_count: source.lead_count,
    created_at: source.created_at.toISOString(),
    expiration_date: source.stop_at?.toISOString() ?? null,
  }
}

/** Returns a source with its health: what its pulls do, what went wrong and what to do about it. */
export function viewState(
  source: SourceRecord,
  syncs: readonly SyncRecord[],
  came: { received: SourceState['received']; reception: Reception | null },
): SourceState {
  const { walk, max_credits_millis: cap } = source
  const isDue = source.status === 'active'
  return {
    ...viewSource(source),
    provider: source.provider,
    connection_id: source.connection,
    fields: source.body,
    schedule: source.schedule,
    pull_existing: source.pull_existing,
    max_count: source.max_records,
    max_credits: cap === null ? null : cap / MILLIS,
    credits_spent: source.spent_millis / MILLIS,
    next_pull_at: (isDue ? source.next_pull_at : null)?.toISOString() ?? null,
    pull_under_way: walk === null ? null : { started_at: walk.started_at, ...walk.counts },
    last_pull: source.last_pull,
    failures_in_a_row: source.failures,
    last_error: source.last_error,
    received: came.received,
    ...came.reception,
    syncs: syncs.map((sync) => ({
      workflow_id: sync.workflow_id,
      field_mapping: Object.fromEntries(sync.mapping.map(({ input, field }) => [`input.${input}`, field])),
      push_existing: sync.push_existing,
      on_change: sync.on_change,
      ...awaitedOf(sync.mapping),
      delivered: sync.delivered,
      waiting: Math.max(0, source.change_count - sync.position),
    })),
  }
}

function awaitedOf(mapping: SyncRecord['mapping']): { awaited_fields?: string[] } {
  const awaited_fields = awaitedFields(mapping)
  return awaited_fields.length === 0 ? {} : { awaited_fields }
}
