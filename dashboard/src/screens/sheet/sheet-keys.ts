import { useEffect } from 'react'
import { isTyping } from '../../frame/frame.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { EXACT_CELLS, pasteText } from './clipboard.ts'
import { openNextFailed } from './next-failed.ts'
import { selectedIds } from './row-edits.ts'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { type SheetView, useSheet } from './sheet-view.ts'
import { redoNext, undoLast } from './undo.ts'

/** Handles the keys that work anywhere on the sheet, and pasting, also without a focused cell. */
export function SheetKeys(): null {
  const view = useSheet()
  const { open } = useSheetDialogs()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (document.querySelector('[role=dialog]') !== null) return
      const isCommand = event.ctrlKey || event.metaKey
      const key = event.key.toLowerCase()
      if (isCommand && key === 'f') {
        event.preventDefault()
        document.querySelector<HTMLInputElement>('input[aria-label="Find"]')?.focus()
      } else if (isTyping(event.target)) return
      else if (isCommand && (key === 'z' || key === 'y')) {
        event.preventDefault()
        if (key === 'y' || event.shiftKey) redoNext(view)
        else undoLast(view)
      } else if (isCommand && key === 'enter') {
        event.preventDefault()
        void runCurrentRows(view, open).catch(notifyProblem)
      } else if (!isCommand && key === 'e' && !isOnInput(view)) void openNextFailed(view).catch(notifyProblem)
    }
    const onPaste = (event: ClipboardEvent) => {
      if (isTyping(event.target) || document.querySelector('[role=dialog]') !== null) return
      const { clipboardData } = event
      const text = clipboardData?.getData(EXACT_CELLS) || clipboardData?.getData('text/plain') || ''
      if (text === '' || !view.can.edit) return
      event.preventDefault()
      const isCellFocused = isWithin('[role=gridcell]')
      void pasteText(view, text, isCellFocused).catch(notifyProblem)
    }
    addEventListener('keydown', onKeyDown)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('keydown', onKeyDown)
      removeEventListener('paste', onPaste)
    }
  }, [view, open])
  return null
}

/** Opens the run dialog for the selected rows, or else for the row of the focused cell. */
async function runCurrentRows(
  view: SheetView,
  open: ReturnType<typeof useSheetDialogs>['open'],
): Promise<void> {
  const selected = await selectedIds(view)
  const row = view.rows.row(view.state.getState().active.row)
  const ids = selected.length > 0 ? selected : row === undefined ? [] : [row.row_id]
  if (ids.length > 0 && view.can.run) open({ kind: 'run', choice: { kind: 'rows', ids } })
}

/** Returns true if the focus is on an input cell, where a letter starts editing. */
function isOnInput({ state, placed }: SheetView): boolean {
  const isInGrid = isWithin('[role=grid]')
  return isInGrid && placed[state.getState().active.column - 1]?.kind === 'input'
}

function isWithin(selector: string): boolean {
  const { activeElement } = document
  return activeElement !== null && activeElement.closest(selector) !== null
}
