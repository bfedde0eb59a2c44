import type { Printer } from './documents.ts'
import type { CheckedRecord } from './record.ts'
import type { Patch } from './store/entities.ts'

type Origin = { source: string; at: string }
type FieldValue = CheckedRecord['fields'][number]

/** The fields that a source reports now about one entity. */
export type News = { fields: readonly FieldValue[]; at: string }

/** The rank of each source in the declared order. Other sources have none. */
export type Ranks = ReadonlyMap<string, number>

/** Compares a new value with the shown one. `unclear` if only the store can decide. */
function comparePrecedence(value: Origin, shown: Origin, ranks: Ranks): 'first' | 'behind' | 'unclear' {
  const [rank, shownRank] = [ranks.get(value.source) ?? Infinity, ranks.get(shown.source) ?? Infinity]
  if (rank !== shownRank) return rank < shownRank ? 'first' : 'behind'
  if (value.at === shown.at || value.at.length !== shown.at.length) return 'unclear'
  return value.at > shown.at ? 'first' : 'behind'
}

/**
 * Returns the changes that new values make to an entity, given the origins of its values. An ingest only adds or
 * confirms values, so afterwards each field shows its previous value or one of the new ones: nothing else must be read.
 * Returns null if that is unclear.
 */
export function patchByNews(
  root: { entityId: string; provenance: string },
  news: readonly News[],
  { source, ranks, printer }: { source: string; ranks: Ranks; printer: Printer },
): Patch | null {
  const shown: Record<string, Origin> = JSON.parse(root.provenance)
  const winners = new Map<string, { value: FieldValue; at: string; origin: Origin }>()
  for (const { fields, at } of news) {
    const { text, isExact } = printer.moment(at)
    if (!isExact) return null
    const origin = { source, at: text }
    for (const value of fields) {
      const before =
        winners.get(value.field)?.origin ??
        (Object.hasOwn(shown, value.field) ? shown[value.field] : undefined)
      const order = before === undefined ? 'first' : comparePrecedence(origin, before, ranks)
      if (order === 'unclear') return null
      if (order === 'first') winners.set(value.field, { value, at, origin })
    }
  }
  return printPatch(root.entityId, [...winners.values()], source, printer)
}

function printPatch(
  entityId: string,
  winners: readonly { value: FieldValue; at: string }[],
  source: string,
  printer: Printer,
): Patch {
  const provenance = [...Map.groupBy(winners, ({ at }) => at)].map(([at, group]) =>
    printer
      .provenance(
        group.map(({ value }) => value),
        source,
        at,
      )
      .slice(1, -1),
  )
  return {
    entityId,
    fields: printer.fields(winners.map(({ value }) => value)),
    provenance: `{${provenance.join()}}`,
  }
}
