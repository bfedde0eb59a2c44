import { sum } from '../../catalog/configuration/cell-price.ts'
import type { SheetEstimate } from './estimate.ts'

type ActionEstimate = SheetEstimate['actions'][number]

/** Merges estimates of several parts of a sheet, each of other rows, into one. */
export function mergeEstimates(parts: readonly SheetEstimate[]): SheetEstimate {
  const [first, ...others] = parts
  if (first === undefined) throw new Error('mergeEstimates needs at least one estimate')
  return others.reduce(mergeTwo, first)
}

function mergeTwo(one: SheetEstimate, other: SheetEstimate): SheetEstimate {
  const ids = new Set([...one.actions, ...other.actions].map(({ action_instance_id }) => action_instance_id))
  const running = new Map(one.running)
  for (const [id, more] of other.running) {
    const { expected = 0, atMost = 0 } = running.get(id) ?? {}
    running.set(id, { expected: expected + more.expected, atMost: atMost + more.atMost })
  }
  return {
    rows: one.rows + other.rows,
    precision: one.precision === 'exact' ? other.precision : one.precision,
    cells: {
      total: one.cells.total + other.cells.total,
      cached: one.cells.cached + other.cells.cached,
      own_key: one.cells.own_key + other.cells.own_key,
      free: one.cells.free + other.cells.free,
      skipped: one.cells.skipped + other.cells.skipped,
      billable: one.cells.billable + other.cells.billable,
    },
    credits: {
      ...mergeBounds(one.credits, other.credits),
      saved_by_cache: sum([one.credits.saved_by_cache, other.credits.saved_by_cache]),
      saved_by_own_keys: sum([one.credits.saved_by_own_keys, other.credits.saved_by_own_keys]),
    },
    actions: [...ids].flatMap((id) => {
      const found = [one, other].flatMap(({ actions }) =>
        actions.filter((action) => action.action_instance_id === id),
      )
      const [first, second] = found
      return first === undefined || second === undefined ? found : [mergeActions(first, second)]
    }),
    running,
  }
}

const mergeActions = (one: ActionEstimate, other: ActionEstimate): ActionEstimate => ({
  ...one,
  cells: one.cells + other.cells,
  credits: mergeBounds(one.credits, other.credits),
  providers: one.providers.map((provider, place) => {
    const same = other.providers[place]
    return same === undefined ? provider : { ...provider, ...mergeBounds(provider, same) }
  }),
})

type Bounds = { expected: number; at_most: number }

const mergeBounds = (one: Bounds, other: Bounds): Bounds => ({
  expected: sum([one.expected, other.expected]),
  at_most: sum([one.at_most, other.at_most]),
})
