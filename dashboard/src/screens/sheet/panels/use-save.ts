import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type Call, type SheetId, sheetCall } from '../../../api/calls.ts'
import type { CatalogueAction } from '../../../api/catalogue.ts'
import { send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { GraphNode } from '../../../api/sheet.ts'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import { changeDefinition } from '../definition-steps.ts'
import { useSheet } from '../sheet-view.ts'
import { applyDraft, type Draft, findChanges, type Saved } from './draft.ts'
import { type RowsToRun, runAction } from './save-and-run.tsx'
import { pickTested, type Tried } from './use-trial.ts'

/** An action as a panel edits it. Without a node it is not added yet. */
export type Edited = {
  node: GraphNode | null
  saved: Saved
  template: CatalogueAction
  /** The action that a new one is to follow; null is the end. */
  after: string | null
}

/** Returns the call that saves the unsaved changes. */
export function buildSave(
  sheet: SheetId,
  { node, saved, template, after }: Edited,
  draft: Draft,
): Call<unknown> {
  const body = findChanges(saved, draft)
  if (node !== null) {
    const params = { action_instance_id: node.action_instance_id }
    return sheetCall(sheet, 'PATCH /actions/:action_instance_id', { params, body })
  }
  return sheetCall(sheet, 'POST /actions/add', { body: buildAdded({ saved, template, after }, draft) })
}

function buildAdded({ saved, template, after }: Omit<Edited, 'node'>, draft: Draft) {
  const { inputs = {}, run_if, ...rest } = findChanges(saved, draft)
  const { name } = applyDraft(saved, draft)
  const filled = Object.entries(inputs).filter(([, value]) => value !== null)
  return {
    action_id: template.action_id,
    ...(after === null ? {} : { after }),
    ...(name === template.name ? {} : { name }),
    ...(filled.length === 0 ? {} : { inputs: Object.fromEntries(filled) }),
    ...(run_if === undefined || run_if === null ? {} : { run_if }),
    ...rest,
  }
}

/** Returns what a test of the unsaved changes sends. */
export function buildTried(edited: Edited, draft: Draft): Tried {
  if (edited.node !== null) {
    return { action: edited.node.action_instance_id, changes: pickTested(findChanges(edited.saved, draft)) }
  }
  const { action_id, after, inputs, run_if } = buildAdded(edited, draft)
  const given = { action_id, ...(after === undefined ? {} : { after }), inputs: inputs ?? {} }
  return { action: null, given: { ...given, ...(run_if === undefined ? {} : { run_if }) } }
}

/** Returns the mutation that saves the unsaved changes, and then runs rows if that was asked for. The change can be undone. */
export function useSave(edited: Edited, draft: Draft, onSaved: (id: string) => void) {
  const view = useSheet()
  const { sheet, refreshDefinition, refresh } = view
  const queries = useQueryClient()
  const { node, saved } = edited
  const { name } = applyDraft(saved, draft)
  const saveParts = async (): Promise<string> => {
    if (node === null) {
      const body = buildAdded(edited, draft)
      return (await send(sheetCall(sheet, 'POST /actions/add', { body }))).data.action_instance_id
    }
    const params = { action_instance_id: node.action_instance_id }
    if (name !== saved.display_name) {
      await send(sheetCall(sheet, 'PATCH /actions/:action_instance_id/name', { params, body: { name } }))
    }
    const body = findChanges(saved, draft)
    if (Object.keys(body).length > 0) {
      await send(sheetCall(sheet, 'PATCH /actions/:action_instance_id', { params, body }))
    }
    return node.action_instance_id
  }
  return useMutation({
    mutationFn: async (_rows: RowsToRun | null) =>
      changeDefinition(view, node === null ? 'add action' : 'configure', saveParts, 2),
    onSuccess: async (id, rows) => {
      notify(`Saved ${name}`)
      await refreshDefinition()
      await queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).configuration(id) })
      onSaved(id)
      if (rows !== null) await send(runAction(sheet, id, rows)).catch(notifyProblem)
      refresh()
    },
  })
}
