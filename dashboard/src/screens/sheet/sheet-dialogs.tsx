import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { RosterSheet } from '../../api/workflows.ts'
import type { ChainMove } from './chain.ts'
import type { ActionColumn, Column, InputColumn } from './columns.ts'
import { AddInput } from './dialogs/add-input.tsx'
import { ChangeInputType, RenameInput } from './dialogs/change-input.tsx'
import { DeleteColumn } from './dialogs/delete-column.tsx'
import { MoveAction } from './dialogs/move-action.tsx'
import { RenameAction } from './dialogs/rename-action.tsx'
import { AddSheet, DeleteSheet, RenameSheet, SheetSettings } from './dialogs/sheet-changes.tsx'
import { Filters } from './filters/filters-dialog.tsx'
import type { RunChoice } from './runs/run-choice.ts'
import { RunDialog } from './runs/run-dialog.tsx'

type Shown =
  | { kind: 'add input' }
  | { kind: 'filters'; column?: string }
  | { kind: 'run'; choice: RunChoice }
  | { kind: 'rename action'; column: ActionColumn }
  | { kind: 'rename input' | 'change type'; column: InputColumn }
  | { kind: 'move action'; move: ChainMove }
  | { kind: 'delete column'; column: Column }
  | { kind: 'add sheet' }
  | { kind: 'rename sheet' | 'sheet settings' | 'delete sheet'; tab: RosterSheet }

type Dialogs = { open: (shown: Shown) => void }
const DialogContext = createContext<Dialogs | null>(null)

export function useSheetDialogs(): Dialogs {
  const dialogs = useContext(DialogContext)
  if (dialogs === null) throw new Error('useSheetDialogs must be used inside SheetDialogs')
  return dialogs
}

/** Provides the dialogs of a sheet to its parts. One dialog is open at a time. */
export function SheetDialogs({ children }: { children: ReactNode }) {
  const [shown, setShown] = useState<Shown | null>(null)
  const dialogs = useMemo(() => ({ open: setShown }), [])
  const onClose = () => setShown(null)
  return (
    <DialogContext value={dialogs}>
      {children}
      {shown !== null && <ShownDialog shown={shown} onClose={onClose} />}
    </DialogContext>
  )
}

function ShownDialog({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  switch (shown.kind) {
    case 'add input':
      return <AddInput onClose={onClose} />
    case 'filters':
      return <Filters onClose={onClose} {...(shown.column === undefined ? {} : { column: shown.column })} />
    case 'run':
      return <RunDialog choice={shown.choice} onClose={onClose} />
    case 'rename action':
      return <RenameAction column={shown.column} onClose={onClose} />
    case 'rename input':
      return <RenameInput column={shown.column} onClose={onClose} />
    case 'change type':
      return <ChangeInputType column={shown.column} onClose={onClose} />
    case 'move action':
      return <MoveAction move={shown.move} onClose={onClose} />
    case 'delete column':
      return <DeleteColumn column={shown.column} onClose={onClose} />
    case 'add sheet':
      return <AddSheet onClose={onClose} />
    case 'rename sheet':
      return <RenameSheet tab={shown.tab} onClose={onClose} />
    case 'sheet settings':
      return <SheetSettings tab={shown.tab} onClose={onClose} />
    case 'delete sheet':
      return <DeleteSheet tab={shown.tab} onClose={onClose} />
  }
}
