import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { listIdentifiers } from '../store/identifiers.ts'
import { findIdentifierKind } from './filter-check.ts'
import {
  toCountBounds,
  type Condition,
  type CountBounds,
  type EventCondition,
  type Filter,
  otherEnd,
  type RelationshipCondition,
} from './filter.ts'
import { findLargeEntities, readEvents, readFields, readRelated, type RelatedPlace } from './store/facts.ts'
import {
  earliest,
  eventsNeeded,
  isWithin,
  judge,
  judgeEvents,
  judgeValues,
  type Outcome,
  type Verdict,
} from './verdict.ts'

const DAY_MS = 86_400_000
const PAIRS_AT_ONCE = 2000
const MAX_NAMED = 5
/** The maximum JSON size of the fields of entities judged together. */
const MAX_BYTES = 32 * 1024 * 1024

export type Question = {
  orgId: string
  kind: EntityKind
  filter: Filter
  now: Date
  /** The number of events to count beyond those that decide, for display. */
  eventsShown?: number
  /** Receives the number of relationships read. If it throws, the work ends. */
  onRelated?: (count: number) => void
}

export type Standing = Pick<Verdict, 'holds' | 'changesAt'>

type OutcomeOf = (entityId: string) => Outcome

/**
 * Judges entities by the filter. Entities that no longer exist, or that are of another kind, are left out. Entities
 * with large fields are read in parts, and what was seen of them is not kept.
 */
export async function judgeEntities(
  db: Db,
  question: Question,
  ids: readonly string[],
): Promise<Map<string, Standing>> {
  const standings = new Map<string, Standing>()
  for (const part of await cutBySize(db, question, ids)) {
    for (const [id, { holds, changesAt }] of await explainEntities(db, question, part)) {
      standings.set(id, { holds, changesAt })
    }
  }
  return standings
}

/** Splits ids into parts whose fields fit into memory together. */
async function cutBySize(db: Db, { orgId, filter }: Question, ids: readonly string[]): Promise<string[][]> {
  if (!filter.some(({ conditions }) => conditions.some((one) => 'variable' in one))) return [[...ids]]
  const large = new Map((await findLargeEntities(db, orgId, ids)).map((one) => [one.entity_id, one.bytes]))
  const parts: string[][] = [[]]
  let bytes = 0
  for (const id of ids) {
    bytes += large.get(id) ?? 0
    if (bytes > MAX_BYTES && parts.at(-1)?.length !== 0) {
      parts.push([])
      bytes = large.get(id) ?? 0
    }
    parts.at(-1)?.push(id)
  }
  return parts
}

/** Judges a few entities with the outcome of each condition. */
export async function explainEntities(
  db: Db,
  question: Question,
  ids: readonly string[],
): Promise<Map<string, Verdict>> {
  const { filter } = question
  const conditions = filter.flatMap((group) => group.conditions)
  const fields = [...new Set(conditions.flatMap((one) => getFieldName(question.kind, one) ?? []))]
  const found = await readFields(db, question.orgId, { kind: question.kind, ids, fields })
  if (found.length === 0) return new Map()
  const roots = found.map(({ entity_id }) => entity_id)
  const values = new Map(found.map(({ entity_id, values: json }) => [entity_id, readValues(json)]))
  const identifiers = conditions.some((one) => getIdentifierKind(question.kind, one) !== undefined)
    ? await listIdentifiers(db, question.orgId, roots)
    : new Map<string, never[]>()

  const outcomes = new Map<Condition, OutcomeOf>()
  for (const condition of conditions) {
    if ('event' in condition) {
      outcomes.set(condition, await judgeEventCondition(db, question, condition, roots))
    } else if ('relationship' in condition) {
      outcomes.set(condition, await judgeRelationship(db, question, condition, roots))
    } else {
      const { operator, variable, values: wanted = [] } = condition
      const identifierKind = getIdentifierKind(question.kind, condition)
      const place = fields.indexOf(variable)
      outcomes.set(condition, (id) => {
        const seen =
          identifierKind === undefined
            ? [values.get(id)?.[place] ?? null]
            : (identifiers.get(id) ?? [])
                .filter((one) => one.identifierKind === identifierKind)
                .map((one) => one.identifier)
        return judgeValues(operator, seen, wanted)
      })
    }
  }
  return new Map(roots.map((id) => [id, judge(groupOutcomes(filter, outcomes, id))]))
}

function groupOutcomes(filter: Filter, outcomes: ReadonlyMap<Condition, OutcomeOf>, id: string) {
  return filter.map(({ combinator, conditions }) => ({
    combinator,
    conditions: conditions.map((condition) => {
      const outcomeOf = outcomes.get(condition)
      if (outcomeOf === undefined) throw new Error('a condition was not judged')
      return { combinator: condition.combinator, outcome: outcomeOf(id) }
    }),
  }))
}

const getIdentifierKind = (kind: EntityKind, condition: Condition) =>
  'variable' in condition ? findIdentifierKind(kind, condition.variable) : undefined

const getFieldName = (kind: EntityKind, condition: Condition) =>
  'variable' in condition && findIdentifierKind(kind, condition.variable) === undefined
    ? condition.variable
    : undefined

function readValues(json: string): unknown[] {
  const values = parseLossless(json)
  if (!Array.isArray(values)) throw new Error('the values of an entity are not an array')
  return values
}

async function judgeEventCondition(
  db: Db,
  { orgId, now, eventsShown = 0 }: Question,
  condition: EventCondition,
  roots: readonly string[],
): Promise<OutcomeOf> {
  const bounds = toCountBounds(condition)
  const withinMs = condition.within_days === undefined ? null : Math.round(condition.within_days * DAY_MS)
  const found = await readEvents(db, orgId, roots, {
    type: condition.event,
    now,
    since: withinMs === null ? null : new Date(now.getTime() - withinMs),
    limit: Math.max(eventsNeeded(bounds), eventsShown),
  })
  const byRoot = new Map(found.map((facts) => [facts.root_id, facts]))
  return (id) => judgeEvents(bounds, withinMs, byRoot.get(id) ?? { times: [], next: null })
}

type Related = {
  count: number
  matching: number
  /** The number of matching entities that time alone does not change. */
  lasting: number
  named: string[]
  changesAt: number | null
}

/**
 * Judges a relationship by counting the matching entities at the other end, page by page, until it is decided: some
 * entities have very many.
 */
async function judgeRelationship(
  db: Db,
  question: Question,
  condition: RelationshipCondition,
  roots: readonly string[],
): Promise<OutcomeOf> {
  const { orgId, onRelated } = question
  const { kind, direction } = otherEnd(condition)
  const ends = { type: condition.relationship, direction, kind }
  const bounds = toCountBounds(condition)
  const byRoot = new Map<string, Related>()
  let open = roots
  for (let after: RelatedPlace | null | undefined = null; after !== undefined && open.length > 0;) {
    const page = { after, limit: PAIRS_AT_ONCE }
    const read = await readRelated(db, { orgId, rootIds: open }, ends, page)
    const pairs = read.flatMap(({ root_id, related_id }) =>
      related_id === null ? [] : [{ root_id, related_id }],
    )
    const others = [...new Set(pairs.map(({ related_id }) => related_id))]
    const verdicts = await judgeEntities(db, { ...question, kind, filter: condition.where ?? [] }, others)
    for (const { root_id, related_id } of pairs) {
      const verdict = verdicts.get(related_id)
      if (verdict !== undefined) addRelated(byRoot, root_id, related_id, verdict)
    }
    onRelated?.(read.length)
    after = read.length < PAIRS_AT_ONCE ? undefined : read.at(-1)
    if (after !== undefined) open = open.filter((id) => !isDecided(byRoot.get(id) ?? NONE, bounds))
  }
  return (id) => {
    const related = byRoot.get(id) ?? NONE
    const { count, matching, named, changesAt } = related
    return {
      holds: isWithin(matching, bounds),
      changesAt: isDecided(related, bounds) ? null : changesAt,
      seen: { related: count, matching, entity_ids: named },
    }
  }
}

const NONE: Related = { count: 0, matching: 0, lasting: 0, named: [], changesAt: null }

/** Returns true if neither further entities nor time can change whether the count is within the bounds. */
function isDecided({ lasting }: Related, { atLeast, atMost }: CountBounds): boolean {
  return atMost === Infinity ? lasting >= atLeast : lasting > atMost
}

function addRelated(
  byRoot: Map<string, Related>,
  rootId: string,
  relatedId: string,
  verdict: Standing,
): void {
  const before = byRoot.get(rootId) ?? NONE
  byRoot.set(rootId, {
    count: before.count + 1,
    matching: before.matching + Number(verdict.holds),
    lasting: before.lasting + Number(verdict.holds && verdict.changesAt === null),
    named: verdict.holds && before.named.length < MAX_NAMED ? [...before.named, relatedId] : before.named,
    changesAt: earliest([before.changesAt, verdict.changesAt]),
  })
}
