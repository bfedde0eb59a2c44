import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../database/connection/db.ts'
import { targetAt } from './batch-contents.ts'
import type { Printer } from './documents.ts'
import { type News, patchByNews } from './precedence.ts'
import type { CheckedRecord, Mention } from './record.ts'
import type { Target } from './resolve.ts'
import type { NewEntity, Patch, Root } from './store/entities.ts'
import type { LockedRoot } from './store/record-locks.ts'
import { listSourceOrder } from './store/sources.ts'
import { addStatements, addStatementsByField, type Statement } from './store/statements.ts'

/** A record with fields, and the part of an entity that they belong to. */
type PartRecord = { partId: string; record: CheckedRecord }

/** An entity of a batch with its records. */
export type RootRecords = { entityId: string; kind: EntityKind; isNew: boolean; partRecords: PartRecord[] }

export type GroupedRoots = {
  /** New entities with at most one record: nothing else is known about them. */
  fresh: RootRecords[]
  /** New entities with several records. */
  repeated: RootRecords[]
  stored: RootRecords[]
}

/** Groups records and related entities by root. The mentions of the records come first. */
export function groupByRoot(
  records: readonly CheckedRecord[],
  mentions: readonly Mention[],
  targets: readonly Target[],
  printer: Printer,
): GroupedRoots {
  const roots = new Map<string, RootRecords>()
  for (const [place, { kind }] of mentions.entries()) {
    const { entityId: partId, rootId, isNew } = targetAt(targets, place)
    let root = roots.get(rootId)
    if (root === undefined) roots.set(rootId, (root = { entityId: rootId, kind, isNew, partRecords: [] }))
    const record = records[place]
    if (record !== undefined && record.fields.length > 0) root.partRecords.push({ partId, record })
  }
  const grouped: GroupedRoots = { fresh: [], repeated: [], stored: [] }
  for (const root of roots.values()) {
    const isFresh =
      root.partRecords.length <= 1 &&
      root.partRecords.every(({ record }) => printer.moment(record.at).isExact)
    grouped[root.isNew ? (isFresh ? 'fresh' : 'repeated') : 'stored'].push(root)
  }
  return grouped
}

export function toNewEntity(
  { entityId, kind, partRecords }: RootRecords,
  source: string,
  printer: Printer,
): NewEntity {
  const [first] = partRecords
  if (first === undefined) return { entityId, kind, fields: '{}', provenance: '{}', at: null }
  const { fields, at } = first.record
  return {
    entityId,
    kind,
    fields: printer.fields(fields),
    provenance: printer.provenance(fields, source, at),
    at,
  }
}

/** Stores the statements of a source about these entities. Returns what was new, by entity. */
export async function storeStatements(
  db: Db,
  { orgId, source }: { orgId: string; source: string },
  { stored, repeated }: Pick<GroupedRoots, 'stored' | 'repeated'>,
  printer: Printer,
): Promise<Map<string, News[]>> {
  const toStatement = ({ partId, record }: PartRecord): Statement => ({
    entityId: partId,
    fields: printer.fields(record.fields),
    at: record.at,
  })
  const byPart = [
    ...Map.groupBy(
      stored.flatMap(({ partRecords }) => partRecords),
      ({ partId }) => partId,
    ).values(),
  ]
  const single = byPart.filter(({ length }) => length === 1).flat()
  const kept = await addStatements(db, orgId, source, single.map(toStatement))
  const byField = [
    ...single.filter(({ partId }) => kept.others.has(partId)),
    ...byPart.filter(({ length }) => length > 1).flat(),
    ...repeated.flatMap(({ partRecords }) => partRecords),
  ]
  const fieldNews = await addStatementsByField(db, orgId, source, byField.map(toStatement))

  const wholeNews = new Set(kept.news)
  const newFields = Map.groupBy(fieldNews, ({ entity_id }) => entity_id)
  const newsOf = ({ partId, record: { fields, at } }: PartRecord): News[] => {
    if (wholeNews.has(partId)) return [{ fields, at }]
    const names = new Set(newFields.get(partId)?.map(({ field }) => field))
    return names.size === 0 ? [] : [{ fields: fields.filter(({ field }) => names.has(field)), at }]
  }
  return new Map(stored.map(({ entityId, partRecords }) => [entityId, partRecords.flatMap(newsOf)]))
}

/** Plans the changes of locked entities. Entities for which they are unclear must be refreshed. */
export async function planPatches(
  db: Db,
  orgId: string,
  {
    source,
    roots,
    news,
    touched,
    printer,
  }: {
    source: string
    roots: readonly LockedRoot[]
    news: ReadonlyMap<string, readonly News[]>
    touched: ReadonlySet<string>
    printer: Printer
  },
): Promise<{ patches: Patch[]; unclear: Set<string> }> {
  const patches: Patch[] = []
  const unclear = new Set<string>()
  const order = await listSourceOrder(db, orgId)
  const ranks = new Map(order.map((name, rank) => [name, rank]))
  for (const { entity_id: entityId, provenance } of roots) {
    const about = news.get(entityId) ?? []
    if (about.length === 0 && !touched.has(entityId)) continue
    const patch = patchByNews({ entityId, provenance }, about, { source, ranks, printer })
    if (patch === null) unclear.add(entityId)
    else if (patch.fields !== '{}' || touched.has(entityId)) patches.push(patch)
  }
  return { patches, unclear }
}

export const toRoot = ({ entityId, kind, isNew }: RootRecords): Root => ({ entityId, kind, isNew })
