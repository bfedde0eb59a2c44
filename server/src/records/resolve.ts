import type { Db } from '../database/connection/db.ts'
import { newId } from '../lib/ids.ts'
import { groupByKeys, joinRoots } from './components.ts'
import type { Mention } from './record.ts'
import {
  addIdentifiers,
  findIdentifiers,
  type Identifier,
  keyOf,
  type Place,
  repointIdentifiers,
} from './store/identifiers.ts'
import { listSeparations, mergeRoots } from './store/merges.ts'
import type { RecordsLock } from './store/record-locks.ts'

/** Thrown when mentions lead to entities that must be merged first, which needs the exclusive lock. */
export class MergeNeeded extends Error {
  override name = 'MergeNeeded'
}

/** The entity that a mention leads to: the part that its values belong to, and the root of that part. */
export type Target = { entityId: string; rootId: string; isNew: boolean }

export type Resolution = {
  /** The targets, by index of the mention. */
  targets: Target[]
  /** The roots that got an identifier or a part. */
  touched: Set<string>
  merged: number
}

type Ingest = { orgId: string; actor: string; lock: RecordsLock }

/** Mentions that share an identifier, directly or through others. `roots` are the stored entities they lead to. */
type Group = { identifiers: Map<string, Identifier>; roots: string[]; home: string; isNew: boolean }

/** Resolves every mention to one entity, known or new. Adds new identifiers. */
export async function resolveMentions(
  db: Db,
  mentions: readonly Mention[],
  ingest: Ingest,
): Promise<Resolution> {
  const { orgId } = ingest
  const keys = mentions.map(({ identifiers }) => identifiers.map(keyOf))
  const { groups, groupOf } = groupMentions(mentions, keys)
  const identifiers = groups.flatMap((group) => [...group.identifiers.values()])
  const places = await findIdentifiers(db, orgId, identifiers)
  findRoots(groups, places)
  const touched = new Set<string>()
  const merged = await mergeGroups(db, { groups, places, touched }, ingest)
  await addMissing(db, { groups, places, touched }, ingest)
  const targets = mentions.map((_, at) => {
    const group = groupOf(at)
    const place = places.get(keys[at]?.[0] ?? '')
    if (group === undefined || place === undefined) throw new Error('a mention resolved to no entity')
    return { entityId: place.entityId, rootId: place.rootId ?? place.entityId, isNew: group.isNew }
  })
  return { targets, touched, merged }
}

function groupMentions(mentions: readonly Mention[], keys: readonly (readonly string[])[]) {
  const leaders = groupByKeys(keys)
  const byLeader = new Map<number, Group>()
  for (const [at, leader] of leaders.entries()) {
    const group = byLeader.get(leader) ?? { identifiers: new Map(), roots: [], home: '', isNew: true }
    byLeader.set(leader, group)
    for (const [n, identifier] of (mentions[at]?.identifiers ?? []).entries()) {
      group.identifiers.set(keys[at]?.[n] ?? keyOf(identifier), identifier)
    }
  }
  return { groups: [...byLeader.values()], groupOf: (at: number) => byLeader.get(leaders[at] ?? -1) }
}

/** Finds the roots of the groups. The oldest root is the home of its group; a group without roots gets a new entity. */
function findRoots(groups: readonly Group[], places: ReadonlyMap<string, Place>): void {
  for (const group of groups) {
    const roots = [...group.identifiers.keys()].flatMap((key) => places.get(key)?.rootId ?? [])
    group.roots = [...new Set(roots)].sort()
    group.isNew = group.roots.length === 0
    group.home = group.roots[0] ?? (group.home || newId())
  }
}

/**
 * Merges the roots of groups. Groups may share entities through different identifiers, so the merges are found over all
 * groups.
 */
async function mergeGroups(
  db: Db,
  { groups, places, touched }: { groups: readonly Group[]; places: Map<string, Place>; touched: Set<string> },
  { orgId, actor, lock }: Ingest,
): Promise<number> {
  const divided = groups.filter(({ roots }) => roots.length > 1)
  if (divided.length === 0) return 0
  const roots = [...new Set(divided.flatMap((group) => group.roots))].sort()
  const findHome = joinRoots(
    divided.map((group) => group.roots),
    await listSeparations(db, orgId, roots),
  )
  const merges = roots.flatMap((mergedId) => {
    const keptId = findHome(mergedId)
    return keptId === mergedId ? [] : [{ keptId, mergedId }]
  })
  if (merges.length > 0 && lock === 'shared') throw new MergeNeeded()
  await mergeRoots(db, orgId, merges, { cause: 'identifier', actor })
  for (const { keptId } of merges) touched.add(keptId)
  for (const place of places.values()) if (place.rootId !== null) place.rootId = findHome(place.rootId)
  for (const group of groups) group.home = findHome(group.home)
  return merges.length
}

/** Adds new identifiers. If another ingest has added one of them meanwhile, the stored entity counts. */
async function addMissing(
  db: Db,
  { groups, places, touched }: { groups: readonly Group[]; places: Map<string, Place>; touched: Set<string> },
  { orgId, lock }: Ingest,
): Promise<void> {
  const missing = groups.flatMap(({ identifiers, home }) =>
    [...identifiers].flatMap(([key, identifier]) =>
      places.has(key) ? [] : [{ ...identifier, key, entityId: home }],
    ),
  )
  if (missing.length === 0) return
  const added = await addIdentifiers(db, orgId, missing)
  const stored =
    added === missing.length ? new Map<string, Place>() : await findIdentifiers(db, orgId, missing)
  const lostKeys = new Set<string>()
  for (const { key, entityId } of missing) {
    const place = stored.get(key)
    if (place === undefined || place.entityId === entityId) {
      places.set(key, { entityId, rootId: entityId })
      touched.add(entityId)
    } else {
      places.set(key, place)
      lostKeys.add(key)
    }
  }
  if (lostKeys.size === 0) return
  const stale = groups.filter(({ identifiers }) => identifiers.keys().some((key) => lostKeys.has(key)))
  const moves = stale.flatMap((group) => {
    const origin = group.home
    const roots = new Set(
      [...group.identifiers.keys()].flatMap((key) => {
        const rootId = places.get(key)?.rootId ?? null
        return rootId === null || (group.isNew && rootId === origin) ? [] : [rootId]
      }),
    )
    if (roots.size > 1 && lock === 'shared') throw new MergeNeeded()
    const [target] = roots
    if (!group.isNew || target === undefined) return []
    for (const key of group.identifiers.keys()) {
      if (places.get(key)?.entityId === origin) places.set(key, { entityId: target, rootId: target })
    }
    group.isNew = false
    touched.delete(origin)
    touched.add(target)
    return [{ from: origin, to: target }]
  })
  if (moves.length > 0) await repointIdentifiers(db, orgId, moves)
}
