import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'

type Place = { pathname: string; search: object }

/** The part of an address that says which panel is open. Filters may change while it stays. */
const panelOf = ({ pathname, search }: Place): string => {
  const { action, draft, cell, row, add } = Object.assign(
    { action: null, draft: null, cell: null, row: null, add: null },
    search,
  )
  return JSON.stringify([pathname, action, draft, cell, row, add])
}

/** Asks before unsaved changes are left. `leave` goes without asking. */
export function useUnsavedChanges(isDirty: boolean) {
  const passes = useRef(false)
  const dirty = useRef(isDirty)
  useEffect(() => {
    dirty.current = isDirty
  }, [isDirty])
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      dirty.current && !passes.current && panelOf(current) !== panelOf(next),
    enableBeforeUnload: () => dirty.current && !passes.current,
    withResolver: true,
  })
  return {
    leave: (go: () => void) => {
      passes.current = true
      go()
    },
    dialog:
      blocker.status === 'blocked' ? (
        <UnsavedChanges onDiscard={blocker.proceed} onKeep={blocker.reset} />
      ) : null,
  }
}

function UnsavedChanges({ onDiscard, onKeep }: { onDiscard: () => void; onKeep: () => void }) {
  return (
    <Dialog
      open
      onClose={onKeep}
      title="Unsaved changes"
      description="The changes in this panel are not saved yet."
      closeLabel="Keep editing"
      footer={
        <Button kind="danger" onClick={onDiscard}>
          Discard
        </Button>
      }
    />
  )
}
