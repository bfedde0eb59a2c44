import type { GraphNode } from '../../api/sheet.ts'
import type { ActionColumn, Column } from './columns.ts'

/** A move of an action behind another one, or to the start (`after: null`), with the references that it would break. */
export type ChainMove = {
  action: ActionColumn
  after: ActionColumn | null
  broken: readonly BrokenReference[]
}
export type BrokenReference = { by: string; to: string }

/** Returns the actions in the order in which they run. The order of columns in the grid is another matter. */
export const chainOf = (columns: readonly Column[]): ActionColumn[] =>
  columns.filter((column) => column.kind === 'action')

/** Returns the move of an action to a place in its chain, or null if it is there already. */
export function planMove(chain: readonly ActionColumn[], key: string, to: number): ChainMove | null {
  const from = chain.findIndex((action) => action.key === key)
  const action = chain[from]
  if (action === undefined || to < 0 || to >= chain.length || to === from) return null
  const moved = chain.toSpliced(from, 1).toSpliced(to, 0, action)
  return { action, after: moved[to - 1] ?? null, broken: findBroken(chain, moved) }
}

/** Lists the references that lead to an earlier action now, and to a later one after the move. */
function findBroken(chain: readonly ActionColumn[], moved: readonly ActionColumn[]): BrokenReference[] {
  return moved.flatMap((action, at) => {
    const isBefore = (other: ActionColumn) => chain.indexOf(other) < chain.indexOf(action)
    return moved
      .slice(at + 1)
      .filter((other) => isBefore(other) && refersTo(action.node, other.key))
      .map((other) => ({ by: action.name, to: other.name }))
  })
}

/** Returns true if the configuration of an action has a token of another one. */
function refersTo({ inputs, run_if }: GraphNode, id: string): boolean {
  const text = JSON.stringify([inputs, run_if])
  return new RegExp(`\\{\\{\\s*${id}\\.`).test(text)
}
