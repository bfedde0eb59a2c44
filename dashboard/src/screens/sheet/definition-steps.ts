import { get, post } from '../../api/client.ts'
import type { Step } from './history.ts'
import type { SheetView } from './sheet-view.ts'

/**
 * Does something to inputs or actions in a way that can be taken back: the server has the revisions. `calls`: how many changes it
 * makes at most; more means that a colleague was at it too, whose change is nothing to take back here.
 */
export async function changeDefinition<Result>(
  view: SheetView,
  name: string,
  change: () => Promise<Result>,
  calls = 1,
): Promise<Result> {
  const before = await revisionOf(view)
  const result = await change()
  const after = await revisionOf(view)
  if (after > before && after <= before + calls) {
    view.history.getState().push(definitionStep(view, name, before, after))
  }
  return result
}

type Restored = Pick<SheetView, 'path' | 'refresh' | 'refreshDefinition'>

/** From one revision to another, and back. */
export function definitionStep(view: Restored, name: string, before: number, after: number): Step {
  const turn = async (from: number, to: number) => {
    try {
      await post(`/internal${view.path}/definition/restore`, { from, to })
    } finally {
      await view.refreshDefinition()
      view.refresh()
    }
  }
  return { name, undo: () => turn(after, before), redo: () => turn(before, after) }
}

async function revisionOf({ path }: SheetView): Promise<number> {
  return (await get<{ revision: number }>(`/internal${path}/definition`)).revision
}
