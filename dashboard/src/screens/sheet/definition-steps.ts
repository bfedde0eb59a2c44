import { sheetCall } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import type { Step } from './history.ts'
import type { SheetView } from './sheet-view.ts'

/**
 * Runs a change of inputs or actions and records an undo step for it, by the revisions on the server. `calls` is the maximum
 * number of revisions that the change makes. If there are more, a colleague made changes too, and no undo step is recorded.
 */
export async function changeDefinition<Result>(
  view: SheetView,
  name: string,
  change: () => Promise<Result>,
  calls = 1,
): Promise<Result> {
  const before = await readRevision(view)
  const result = await change()
  const after = await readRevision(view)
  if (after > before && after <= before + calls) {
    view.history.getState().push(definitionStep(view, name, before, after))
  }
  return result
}

type RestoreView = Pick<SheetView, 'sheet' | 'refresh' | 'refreshDefinition'>

/** Returns the step that switches between two revisions. */
export function definitionStep(view: RestoreView, name: string, before: number, after: number): Step {
  const restore = async (from: number, to: number) => {
    try {
      await send(sheetCall(view.sheet, 'POST /internal/definition/restore', { body: { from, to } }))
    } finally {
      await view.refreshDefinition()
      view.refresh()
    }
  }
  return { name, undo: () => restore(after, before), redo: () => restore(before, after) }
}

async function readRevision({ sheet }: SheetView): Promise<number> {
  return (await fetchData(sheetCall(sheet, 'GET /internal/definition'))).revision
}
