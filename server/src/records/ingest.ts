import { MAX_RECORDS } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { collectFieldTypes, readContents, targetAt, collectTerms } from './batch-contents.ts'
import { createPrinter } from './documents.ts'
import type { CheckedRecord, Mention } from './record.ts'
import { MergeNeeded, resolveMentions } from './resolve.ts'
import { groupByRoot, storeStatements, planPatches, toNewEntity, toRoot } from './source-statements.ts'
import { addAddresses } from './store/addresses.ts'
import { addEntities, patchEntities, refreshEntities } from './store/entities.ts'
import { addEvents } from './store/events.ts'
import { addFieldTypes } from './store/field-types.ts'
import { lockRecords, lockRoots, type RecordsLock } from './store/record-locks.ts'
import { addRelationships } from './store/relationships.ts'
import { addTerms } from './store/terms.ts'

export type Batch = { source: string; actor: string; records: readonly CheckedRecord[] }

export type Ingested = {
  /** The results, in the order of the records. */
  results: { entity_id: string; created: boolean; changed: boolean }[]
  merged: number
}

/**
 * Runs at the end of the transaction: its writes are committed with the records, and if it throws, nothing is
 * committed.
 */
export type Confirm = (trx: Db, ingested: Ingested) => Promise<void>

/**
 * Ingests the records of a source in one transaction. Repeated records change nothing, and their order does not matter.
 * Ingests run concurrently; only one that must merge entities waits for all others.
 */
export async function ingestRecords(
  db: Db,
  orgId: string,
  batch: Batch,
  confirm: Confirm = async () => undefined,
): Promise<Ingested> {
  if (batch.records.length > MAX_RECORDS) {
    throw invalid('records', `must have at most ${MAX_RECORDS} records`)
  }
  if (batch.records.length === 0) return { results: [], merged: 0 }
  const ingestUnder = (lock: RecordsLock) =>
    db.transaction().execute(async (trx) => {
      const ingested = await ingestOnce(trx, orgId, batch, lock)
      await confirm(trx, ingested)
      return ingested
    })
  try {
    return await ingestUnder('shared')
  } catch (cause) {
    if (!(cause instanceof MergeNeeded)) throw cause
    return ingestUnder('exclusive')
  }
}

async function ingestOnce(db: Db, orgId: string, batch: Batch, lock: RecordsLock): Promise<Ingested> {
  const { source, actor, records } = batch
  await lockRecords(db, orgId, lock)
  // The records come first, then their related entities.
  const mentions: Mention[] = [...records, ...records.flatMap((r) => r.relationships.map(({ to }) => to))]
  const { targets, touched, merged } = await resolveMentions(db, mentions, { orgId, actor, lock })
  const printer = createPrinter()
  const { fresh, repeated, stored } = groupByRoot(records, mentions, targets, printer)
  const storedIds = stored.map(({ entityId }) => entityId)
  const locked = storedIds.length === 0 ? [] : await lockRoots(db, orgId, storedIds)

  const news = await storeStatements(db, { orgId, source }, { stored, repeated }, printer)
  const { relationships, events, addressTexts } = readContents(batch, targets)
  const ends = [
    ...(await addRelationships(db, orgId, relationships)),
    ...(await addEvents(db, orgId, events)),
  ]
  const rootOf = new Map(ends.length === 0 ? [] : targets.map(({ entityId, rootId }) => [entityId, rootId]))
  for (const part of ends) touched.add(rootOf.get(part) ?? part)
  await addAddresses(db, orgId, addressTexts)
  await addFieldTypes(db, orgId, collectFieldTypes(records))
  await addTerms(db, orgId, collectTerms(batch))

  // Merged entities bring values of their own, so all are refreshed instead.
  const toPatch = merged > 0 ? [] : locked
  const { patches, unclear } = await planPatches(db, orgId, {
    source,
    roots: toPatch,
    news,
    touched,
    printer,
  })
  const toRefresh = [...stored.filter(({ entityId }) => merged > 0 || unclear.has(entityId)), ...repeated]
  const changed = new Set(await patchEntities(db, orgId, patches, touched))
  const refreshed = await refreshEntities(db, orgId, toRefresh.map(toRoot), touched)
  for (const { entity_id } of refreshed) changed.add(entity_id)
  await addEntities(
    db,
    orgId,
    source,
    fresh.map((root) => toNewEntity(root, source, printer)),
  )

  const results = records.map((_, place) => {
    const { rootId, isNew } = targetAt(targets, place)
    return { entity_id: rootId, created: isNew, changed: isNew || changed.has(rootId) }
  })
  return { results, merged }
}
