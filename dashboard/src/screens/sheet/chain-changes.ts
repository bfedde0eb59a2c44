import { sheetCall } from '../../api/calls.ts'
import { fetchData, send } from '../../api/client.ts'
import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { ChainMove } from './chain.ts'
import type { ActionColumn, InputColumn } from './columns.ts'
import { changeDefinition } from './definition-steps.ts'
import type { SheetView } from './sheet-view.ts'
import { undoLast } from './undo.ts'

/** Moves an action in the chain. */
export async function moveInChain(view: SheetView, { action, after }: ChainMove): Promise<void> {
  await changeDefinition(view, `move ${action.name} in the chain`, () =>
    send(
      sheetCall(view.sheet, 'PATCH /actions/:action_instance_id/move', {
        params: { action_instance_id: action.key },
        body: { after: after?.key ?? 'input' },
      }),
    ),
  )
  await view.refreshDefinition()
  notify(`${action.name} now runs ${after === null ? 'first' : `after ${after.name}`}`, {
    label: 'Undo',
    run: () => undoLast(view),
  })
}

/** Adds a copy of an action right after it, with the same configuration and no results. */
export async function duplicateAction(view: SheetView, { key, name, node }: ActionColumn): Promise<void> {
  const { action_id, inputs, run_if, continue_workflow_if_action_fails: continues, note } = node
  try {
    const added = await changeDefinition(view, `duplicate ${name}`, () =>
      fetchData(
        sheetCall(view.sheet, 'POST /actions/add', {
          body: {
            action_id,
            after: key,
            name: `${name} copy`,
            ...(inputs === undefined ? {} : { inputs }),
            ...(run_if === undefined ? {} : { run_if }),
            ...(continues === undefined ? {} : { continue_workflow_if_action_fails: continues }),
            ...(note === undefined ? {} : { note }),
          },
        }),
      ),
    )
    await view.refreshDefinition()
    view.address.openAction(added.action_instance_id)
  } catch (error) {
    notifyProblem(error)
  }
}

/** Adds a copy of an input with its values right after it. */
export async function duplicateInput(view: SheetView, { name }: InputColumn): Promise<void> {
  try {
    const copy = await changeDefinition(view, `duplicate ${name}`, () =>
      fetchData(
        sheetCall(view.sheet, 'POST /inputs/:field_name/duplicate', {
          params: { field_name: name },
          body: {},
        }),
      ),
    )
    await view.refreshDefinition()
    view.refresh()
    notify(`Added ${copy.name}`, { label: 'Undo', run: () => undoLast(view) })
  } catch (error) {
    notifyProblem(error)
  }
}
