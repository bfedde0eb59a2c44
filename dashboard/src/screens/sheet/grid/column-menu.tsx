import {
  ArrowLeft,
  ArrowRight,
  BarChart3,
  Copy,
  EyeOff,
  Filter,
  Pencil,
  Play,
  Settings2,
  Snowflake,
  Trash2,
} from '../../../ui/icons.tsx'
import { MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import { duplicateAction, duplicateInput } from '../chain-changes.ts'
import { moveColumn, type PlacedColumn } from '../columns.ts'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet } from '../sheet-view.ts'
import { SortItems } from './sort-menu.tsx'

export function ColumnMenu({ column }: { column: PlacedColumn }) {
  const view = useSheet()
  const { layout, setLayout, address, can, placed } = view
  const { open } = useSheetDialogs()
  const { key } = column
  const toggle = (keys: readonly string[]) =>
    keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]
  const moveBy = (by: number) => {
    const moved = moveColumn(layout, placed, key, placed.findIndex((one) => one.key === key) + by)
    if (moved !== layout) setLayout(moved)
  }
  return (
    <>
      {column.kind === 'action' && <ActionItems column={column} />}
      {column.kind === 'input' && can.configure && (
        <>
          <MenuItem icon={Pencil} onSelect={() => open({ kind: 'rename input', column })}>
            Rename
          </MenuItem>
          <MenuItem icon={Settings2} onSelect={() => open({ kind: 'change type', column })}>
            {column.type === 'select' ? 'Change type or choices' : 'Change type'}
          </MenuItem>
          <MenuItem icon={Copy} onSelect={() => void duplicateInput(view, column)}>
            Duplicate
          </MenuItem>
          <MenuSeparator />
        </>
      )}
      <SortItems column={column} />
      <MenuSeparator />
      <MenuItem icon={Snowflake} onSelect={() => setLayout({ ...layout, frozen: toggle(layout.frozen) })}>
        {column.frozen ? 'Unfreeze' : 'Freeze'}
      </MenuItem>
      <MenuItem icon={EyeOff} onSelect={() => setLayout({ ...layout, hidden: toggle(layout.hidden) })}>
        Hide
      </MenuItem>
      <MenuItem icon={ArrowLeft} onSelect={() => moveBy(-1)}>
        Move left
      </MenuItem>
      <MenuItem icon={ArrowRight} onSelect={() => moveBy(1)}>
        Move right
      </MenuItem>
      <MenuItem icon={Filter} onSelect={() => open({ kind: 'filters', column: key })}>
        Filter
      </MenuItem>
      <MenuItem icon={BarChart3} onSelect={() => address.openStatistics(key)}>
        Statistics
      </MenuItem>
      {(column.kind === 'input' ? can.configure : can.editActions) && (
        <>
          <MenuSeparator />
          <MenuItem icon={Trash2} danger onSelect={() => open({ kind: 'delete column', column })}>
            Delete
          </MenuItem>
        </>
      )}
    </>
  )
}

function ActionItems({ column }: { column: Extract<PlacedColumn, { kind: 'action' }> }) {
  const view = useSheet()
  const { open } = useSheetDialogs()
  const { can, address } = view
  const { key } = column
  return (
    <>
      <MenuItem icon={Settings2} onSelect={() => address.openAction(key)}>
        Configure
      </MenuItem>
      {can.editActions && (
        <MenuItem icon={Pencil} onSelect={() => open({ kind: 'rename action', column })}>
          Rename
        </MenuItem>
      )}
      {can.run && (
        <MenuItem icon={Play} onSelect={() => open({ kind: 'run', choice: { kind: 'column', action: key } })}>
          Run column
        </MenuItem>
      )}
      {can.editActions && (
        <MenuItem icon={Copy} onSelect={() => void duplicateAction(view, column)}>
          Duplicate
        </MenuItem>
      )}
      <MenuSeparator />
    </>
  )
}
