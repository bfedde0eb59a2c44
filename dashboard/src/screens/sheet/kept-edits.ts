import { useEffect } from 'react'
import { get } from '../../api/client.ts'
import { notifyProblem } from '../../ui/toasts.tsx'
import { editStep } from './row-edits.ts'
import { useSheet } from './sheet-view.ts'

type Kept = { edit_id: string; undone: boolean }

/** What this person changed before, here or in another browser, can be undone as well. */
export function useKeptEdits(): void {
  const { path, refresh, history, can } = useSheet()
  useEffect(() => {
    if (!can.edit) return
    const ended = new AbortController()
    const seed = async () => {
      const edits = await get<Kept[]>(`/internal${path}/edits`, ended.signal)
      const steps = (undone: boolean) =>
        edits
          .filter((edit) => edit.undone === undone)
          .map(({ edit_id }) => editStep({ path, refresh }, edit_id))
      // They come with the latest first; of those that were undone the earliest is the next to be done again.
      history.getState().seed(steps(false).toReversed(), steps(true))
    }
    seed().catch((error: unknown) => ended.signal.aborted || notifyProblem(error))
    return () => ended.abort()
  }, [path, refresh, history, can.edit])
}
