import { MAX_RECORDS } from '#contract/records.ts'
import { invalid } from '../lib/errors.ts'
import type { Db } from '../store/connection/db.ts'
import { addAddresses } from '../store/records/addresses.ts'
import { addEntities, refreshEntities } from '../store/records/entities.ts'
import { addEvents } from '../store/records/events.ts'
import { lockRecords, lockRoots, type RecordsLock } from '../store/records/record-locks.ts'
import { addRelationships } from '../store/records/relationships.ts'
import { addTerms, type Term } from '../store/records/terms.ts'
import { addFieldTypes, addFirstValues, addValues } from '../store/records/values.ts'
import { splitByDocument } from './documents.ts'
import type { CheckedRecord, Mention } from './record.ts'
import { MergeNeeded, type Resolution, resolveMentions } from './resolve.ts'

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
  const { actor, records } = batch
  await lockRecords(db, orgId, lock)
  // The records first, then what they are related to.
  const mentions: Mention[] = [...records, ...records.flatMap((r) => r.relationships.map(({ to }) => to))]
  const resolution = await resolveMentions(db, mentions, { orgId, actor, lock })
  const roots = rootsOf(mentions, resolution)
  const stored = roots.filter(({ isNew }) => !isNew).map(({ entityId }) => entityId)
  if (stored.length > 0) await lockRoots(db, orgId, stored)

  const touched = new Set(resolution.touched)
  const rootOf = new Map(resolution.targets.map(({ entityId, rootId }) => [entityId, rootId]))
  const touch = (parts: readonly string[]) => {
    for (const part of parts) touched.add(rootOf.get(part) ?? part)
  }
  const { values, relationships, events } = describeBatch(batch, resolution)
  const { complete, others } = splitByDocument(roots, values)
  const said = complete.flatMap(({ at, ...entity }) => (at === null ? [] : [{ ...entity, at }]))
  const first = new Set(said.map(({ entityId }) => entityId))
  await addFirstValues(db, orgId, batch.source, said)
  await addValues(
    db,
    orgId,
    values.filter(({ entityId }) => !first.has(entityId)),
  )
  touch(await addRelationships(db, orgId, relationships))
  touch(await addEvents(db, orgId, events))
  await addAddresses(db, orgId, addressTextsOf(records, { values, events }, resolution))
  await addFieldTypes(db, orgId, fieldTypesOf(records))
  await addTerms(db, orgId, termsOf(batch))
  const refreshed = [
    ...(await refreshEntities(db, orgId, others, touched)),
    ...(await addEntities(db, orgId, complete)),
  ]
  const changed = new Set(refreshed.map(({ entity_id }) => entity_id))

  const results = records.map((_, place) => {
    const { rootId, isNew } = targetAt(resolution, place)
    return { entity_id: rootId, created: isNew, changed: changed.has(rootId) }
  })
  return { results, merged: resolution.merged }
}

function targetAt({ targets }: Resolution, place: number) {
  const target = targets[place]
  if (target === undefined) throw new Error('a record was led nowhere')
  return target
}

function rootsOf(mentions: readonly Mention[], resolution: Resolution) {
  const roots = mentions.map(({ kind }, place) => {
    const { rootId, isNew } = targetAt(resolution, place)
    return { entityId: rootId, kind, isNew }
  })
  return [...new Map(roots.map((root) => [root.entityId, root])).values()]
}

function describeBatch({ source, records }: Batch, resolution: Resolution) {
  let next = records.length
  const described = records.map(({ fields, relationships, events, at }, place) => {
    const { entityId } = targetAt(resolution, place)
    return {
      values: fields.map(({ field, json }) => ({ entityId, field, source, json, at })),
      events: events.map((event) => ({ ...event, entityId, source })),
      relationships: relationships.map(({ type }) => {
        const toId = targetAt(resolution, next++).entityId
        return { fromId: entityId, type, toId, source, at }
      }),
    }
  })
  return {
    values: described.flatMap(({ values }) => values),
    events: described.flatMap(({ events }) => events),
    relationships: described.flatMap(({ relationships }) => relationships),
  }
}

/** Email identifiers are found by themselves. */
function addressTextsOf(
  records: readonly CheckedRecord[],
  { values, events }: Pick<ReturnType<typeof describeBatch>, 'values' | 'events'>,
  resolution: Resolution,
) {
  const identifiers = records.flatMap((record, place) =>
    record.identifiers
      .filter(({ identifierKind }) => identifierKind !== 'email')
      .map(({ identifier }) => ({ entityId: targetAt(resolution, place).entityId, text: identifier })),
  )
  const said = [...values, ...events].map(({ entityId, json }) => ({ entityId, text: json }))
  return [...identifiers, ...said].filter(({ text }) => text.includes('@'))
}

function termsOf({ source, records }: Batch): Term[] {
  const terms = records.flatMap(({ kind, relationships, events }): Term[] => [
    { topic: 'source', kind, term: source },
    ...relationships.map(({ type }): Term => ({ topic: 'relationship', kind, term: type })),
    ...events.map(({ type }): Term => ({ topic: 'event', kind, term: type })),
  ])
  return [...new Map(terms.map((term) => [`${term.topic} ${term.kind} ${term.term}`, term])).values()]
}

function fieldTypesOf(records: readonly CheckedRecord[]) {
  const types = records.flatMap(({ kind, fields }) =>
    fields.map(({ field, type }) => [`${kind} ${type} ${field}`, { kind, field, type }] as const),
  )
  return [...new Map(types).values()]
}
