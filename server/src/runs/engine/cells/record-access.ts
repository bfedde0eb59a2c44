import type { RecordAccess } from '../../../catalog/records/access.ts'
import type { Store } from '../../../database/connection/db.ts'
import type { IngestCell } from '../../../records/cell-ingest.ts'
import type { LookupCell } from '../../../records/cell-lookup.ts'
import { relateForCell } from '../../../records/cell-relationships.ts'
import { updateForCell } from '../../../records/cell-writes.ts'
import type { Flight } from '../flights/flight.ts'
import type { DatabaseUse } from './database-use.ts'

/** Gives an action access to the record store on behalf of the cell it runs for. */
export function createRecordAccess(
  store: Store,
  { facts, row, position }: Flight,
  { database, ingest, lookup }: { database: DatabaseUse; ingest: IngestCell; lookup: LookupCell },
): RecordAccess {
  const { org_id } = facts
  const db = store.org(org_id)
  const cell = { runId: facts.run_id, rowId: row.id, action: position.action }
  return {
    ingest: (record) => database.watch(ingest(org_id, cell, record)),
    lookup: (query) => database.watch(lookup(org_id, query)),
    update: (update) => database.watch(updateForCell(db, org_id, cell, update)),
    relate: (operation, relationship) =>
      database.watch(relateForCell(db, org_id, cell, { operation, ends: relationship })),
  }
}
