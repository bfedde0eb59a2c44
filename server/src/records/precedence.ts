import type { Printer } from './documents.ts'
import type { CheckedRecord } from './record.ts'
import type { Patch } from './store/entities.ts'

type Origin = { source: string; at: string }
type Said = CheckedRecord['fields'][number]

/** What a source says now about fields of one entity. */
export type News = { fields: readonly Said[]; at: string }

/** The place of each source in the declared order; the others have none. */
export type Ranks = ReadonlyMap<string, number>

/** Whether a value counts before the one that is shown. Unclear when only the store can tell. */
function comparePrecedence(said: Origin, shown: Origin, ranks: Ranks): 'first' | 'behind' | 'unclear' {
  const [rank, shownRank] = [ranks.get(said.source) ?? Infinity, ranks.get(shown.source) ?? Infinity]
  if (rank !== shownRank) return rank < shownRank ? 'first' : 'behind'
  if (said.at === shown.at || said.at.length !== shown.at.length) return 'unclear'
  return said.at > shown.at ? 'first' : 'behind'
}

/**
 * What news change about an entity, given where its values come from. Values are only ever added or confirmed by an ingest,
 * so what counts afterwards is what counted before or one of the news: nothing else has to be read. Null when it is unclear.
 */
export function patchByNews(
  root: { entityId: string; provenance: string },
  news: readonly News[],
  { source, ranks, printer }: { source: string; ranks: Ranks; printer: Printer },
): Patch | null {
  const shown: Record<string, Origin> = JSON.parse(root.provenance)
  const winners = new Map<string, { said: Said; at: string; origin: Origin }>()
  for (const { fields, at } of news) {
    const { text, isExact } = printer.moment(at)
    if (!isExact) return null
    const origin = { source, at: text }
    for (const said of fields) {
      const before =
        winners.get(said.field)?.origin ?? (Object.hasOwn(shown, said.field) ? shown[said.field] : undefined)
      const order = before === undefined ? 'first' : comparePrecedence(origin, before, ranks)
      if (order === 'unclear') return null
      if (order === 'first') winners.set(said.field, { said, at, origin })
    }
  }
  return printPatch(root.entityId, [...winners.values()], source, printer)
}

function printPatch(
  entityId: string,
  winners: readonly { said: Said; at: string }[],
  source: string,
  printer: Printer,
): Patch {
  const provenance = [...Map.groupBy(winners, ({ at }) => at)].map(([at, group]) =>
    printer
      .provenance(
        group.map(({ said }) => said),
        source,
        at,
      )
      .slice(1, -1),
  )
  return {
    entityId,
    fields: printer.fields(winners.map(({ said }) => said)),
    provenance: `{${provenance.join()}}`,
  }
}
