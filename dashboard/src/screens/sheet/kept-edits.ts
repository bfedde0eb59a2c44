import { useEffect } from 'react'
import type { z } from 'zod'
import type { DefinitionSteps, KeptEdits } from '#contract/row-edits.ts'
import { get } from '../../api/client.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import { definitionStep } from './definition-steps.ts'
import type { Step } from './history.ts'
import { editStep } from './row-edits.ts'
import { useSheet } from './sheet-view.ts'

type Edits = z.infer<typeof KeptEdits>
type Steps = z.infer<typeof DefinitionSteps>
type Dated = { made_at: string; step: Step }

/** Loads the person's earlier changes of values, inputs and actions, also from other browsers, so that they can be undone. */
export function useKeptEdits(): void {
  const { path, refresh, refreshDefinition, history, can } = useSheet()
  useEffect(() => {
    const ended = new AbortController()
    const seed = async () => {
      const [edits, { past, future }] = await Promise.all([
        can.edit ? get<Edits>(`/internal${path}/edits`, ended.signal) : [],
        can.configure && can.editActions
          ? get<Steps>(`/internal${path}/definition/steps`, ended.signal)
          : { past: [], future: [] },
      ])
      const edited = (undone: boolean): Dated[] =>
        edits
          .filter((edit) => edit.undone === undone)
          .map(({ edit_id, made_at }) => ({ made_at, step: editStep({ path, refresh }, edit_id) }))
      const view = { path, refresh, refreshDefinition }
      const undoable = past.map(({ from, to, made_at }) => ({
        made_at,
        step: definitionStep(view, 'configuration', to, from),
      }))
      const redoable = future.map(({ from, to, made_at }) => ({
        made_at,
        step: definitionStep(view, 'configuration', from, to),
      }))
      // Undo takes the latest change first. Redo takes the earliest undone change first.
      const earliestFirst = sortSteps([...edited(false), ...undoable])
      const latestFirst = sortSteps([...edited(true), ...redoable]).toReversed()
      history.getState().seed(earliestFirst, latestFirst)
    }
    seed().catch((error: unknown) => ended.signal.aborted || notifyProblem(error))
    return () => ended.abort()
  }, [path, refresh, refreshDefinition, history, can.edit, can.configure, can.editActions])
}

function sortSteps(dated: Dated[]): Step[] {
  return dated.sort((one, other) => one.made_at.localeCompare(other.made_at)).map(({ step }) => step)
}
