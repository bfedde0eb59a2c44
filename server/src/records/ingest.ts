import { MAX_RECORDS } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import { fieldTypesOf, readContents, targetAt, termsOf } from './batch-contents.ts'
import { createPrinter } from './documents.ts'
import type { CheckedRecord, Mention } from './record.ts'
import { MergeNeeded, resolveMentions } from './resolve.ts'
import { groupByRoot, keepStatements, planPatches, toNewEntity, toRoot } from './said.ts'
import { addAddresses } from './store/addresses.ts'
import { addEntities, patchEntities, refreshEntities } from './store/entities.ts'
import { addEvents } from './store/events.ts'
import { addFieldTypes } from './store/field-types.ts'
import { lockRecords, lockRoots, type RecordsLock } from './store/record-locks.ts'
import { addRelationships } from './store/relationships.ts'
import { addTerms } from './store/terms.ts'

export type Batch = { source: string; actor: string; records: readonly CheckedRecord[] }

export type Ingested = {
  /** In the order of the records. */
  results: { entity_id: string; created: boolean; changed: boolean }[]
  merged: number
}

/** Called at the end of the transaction: what it writes is committed with the records, and when it throws none are. */
export type Confirm = (trx: Db, ingested: Ingested) => Promise<void>

/**
 * Takes in what a source says, in one transaction. Whatever is said again changes nothing, and the order in which things are
 * said makes no difference. Ingests run beside each other; only one that has to merge entities waits for all others.
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
  // The records first, then what they are related to.
  const mentions: Mention[] = [...records, ...records.flatMap((r) => r.relationships.map(({ to }) => to))]
  const { targets, touched, merged } = await resolveMentions(db, mentions, { orgId, actor, lock })
  const printer = createPrinter()
  const { fresh, repeated, stored } = groupByRoot(records, mentions, targets, printer)
  const storedIds = stored.map(({ entityId }) => entityId)
  const locked = storedIds.length === 0 ? [] : await lockRoots(db, orgId, storedIds)

  const news = await keepStatements(db, orgId, source, { stored, repeated }, printer)
  const { relationships, events, addressTexts } = readContents(batch, targets)
  const ends = [
    ...(await addRelationships(db, orgId, relationships)),
    ...(await addEvents(db, orgId, events)),
  ]
  const rootOf = new Map(ends.length === 0 ? [] : targets.map(({ entityId, rootId }) => [entityId, rootId]))
  for (const part of ends) touched.add(rootOf.get(part) ?? part)
  await addAddresses(db, orgId, addressTexts)
  await addFieldTypes(db, orgId, fieldTypesOf(records))
  await addTerms(db, orgId, termsOf(batch))

  // What was merged brings values of its own.
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
