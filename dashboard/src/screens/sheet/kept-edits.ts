import { useEffect } from 'react'
import { sheetCall } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import { definitionStep } from './definition-steps.ts'
import type { Step } from './history.ts'
import { editStep } from './row-edits.ts'
import { useSheet } from './sheet-view.ts'

type Dated = { made_at: string; step: Step }

/** Loads the person's earlier changes of values, inputs and actions, also from other browsers, so that they can be undone. */
export function useKeptEdits(): void {
  const { sheet, refresh, refreshDefinition, history, can } = useSheet()
  useEffect(() => {
    const ended = new AbortController()
    const seed = async () => {
      const [edits, { past, future }] = await Promise.all([
        can.edit ? fetchData(sheetCall(sheet, 'GET /internal/edits'), { signal: ended.signal }) : [],
        can.configure && can.editActions
          ? fetchData(sheetCall(sheet, 'GET /internal/definition/steps'), { signal: ended.signal })
          : { past: [], future: [] },
      ])
      const edited = (undone: boolean): Dated[] =>
        edits
          .filter((edit) => edit.undone === undone)
          .map(({ edit_id, made_at }) => ({ made_at, step: editStep({ sheet, refresh }, edit_id) }))
      const view = { sheet, refresh, refreshDefinition }
      const undoable = past.map(({ from, to, made_at }) => ({
        made_at,
        step: definitionStep(view, 'change inputs or actions', to, from),
      }))
      const redoable = future.map(({ from, to, made_at }) => ({
        made_at,
        step: definitionStep(view, 'change inputs or actions', from, to),
      }))
      // Undo takes the latest change first. Redo takes the earliest undone change first.
      const earliestFirst = sortSteps([...edited(false), ...undoable])
      const latestFirst = sortSteps([...edited(true), ...redoable]).toReversed()
      history.getState().seed(earliestFirst, latestFirst)
    }
    seed().catch((error: unknown) => ended.signal.aborted || notifyProblem(error))
    return () => ended.abort()
  }, [sheet, refresh, refreshDefinition, history, can.edit, can.configure, can.editActions])
}

function sortSteps(dated: Dated[]): Step[] {
  return dated.sort((one, other) => one.made_at.localeCompare(other.made_at)).map(({ step }) => step)
}
