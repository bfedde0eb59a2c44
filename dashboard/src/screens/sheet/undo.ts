import { notify, notifyProblem } from '../../ui/toasts.tsx'
import type { SheetView } from './sheet-view.ts'

type Steps = Pick<SheetView, 'history'>

/** Undoes the latest change, says which it was, and offers to redo it. */
export function undoLast(view: Steps): void {
  const undoing = view.history.getState().undo()
  undoing
    .then((step) => step && notify(`Undone: ${step.name}`, { label: 'Redo', run: () => redoNext(view) }))
    .catch(notifyProblem)
}

/** Redoes the change that was undone last, says which it was, and offers to undo it again. */
export function redoNext(view: Steps): void {
  const redoing = view.history.getState().redo()
  redoing
    .then((step) => step && notify(`Redone: ${step.name}`, { label: 'Undo', run: () => undoLast(view) }))
    .catch(notifyProblem)
}
