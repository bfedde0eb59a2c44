import type { Warning } from '#contract/envelope.ts'
import type { SourceState } from '#contract/sources.ts'
import type { Db } from '../../database/connection/db.ts'
import type { Sealer } from '../../lib/security/secrets.ts'
import type { SourceCatalogue } from '../registry.ts'
import { listSyncs } from '../store/source-syncs.ts'
import type { SourceRecord } from '../store/sources.ts'
import { findReception, viewReceived } from './inbox/reception.ts'
import { viewState } from './view.ts'

type Means = { sources: SourceCatalogue; sealer: Sealer; publicUrl: string }

/** Returns a source with its health, as callers and operators see it. */
export async function readSourceState(
  db: Db,
  record: SourceRecord,
  { sources, sealer, publicUrl }: Means,
): Promise<{ state: SourceState; warnings: Warning[] }> {
  const source = sources.get(record.slug)
  const [syncs, received, { reception, warnings }] = await Promise.all([
    listSyncs(db, record),
    viewReceived(db, record, source),
    findReception(db, sealer, publicUrl, { record, source }),
  ])
  return { state: viewState(record, syncs, { received, reception }), warnings }
}
