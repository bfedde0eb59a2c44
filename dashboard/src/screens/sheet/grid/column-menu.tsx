import {
  ArrowLeft,
  ArrowRight,
  EyeOff,
  Filter,
  Pencil,
  Play,
  Settings2,
  Snowflake,
  Trash2,
} from '../../../ui/icons.tsx'
import { MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import type { PlacedColumn } from '../columns.ts'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet } from '../sheet-view.ts'

export function ColumnMenu({ column }: { column: PlacedColumn }) {
  const { layout, setLayout, address, can, placed } = useSheet()
  const { open } = useSheetDialogs()
  const { key } = column
  const toggle = (keys: readonly string[]) =>
    keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]
  const shift = (by: number) => {
    const keys = placed.map((one) => one.key)
    const from = keys.indexOf(key)
    const to = from + by
    if (to < 0 || to >= keys.length) return
    setLayout({ ...layout, order: keys.toSpliced(from, 1).toSpliced(to, 0, key) })
  }
  return (
    <>
      {column.kind === 'action' && (
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
            <MenuItem
              icon={Play}
              onSelect={() => open({ kind: 'run', choice: { kind: 'column', action: key } })}
            >
              Run column
            </MenuItem>
          )}
          <MenuSeparator />
        </>
      )}
      <MenuItem icon={Snowflake} onSelect={() => setLayout({ ...layout, frozen: toggle(layout.frozen) })}>
        {column.frozen ? 'Unfreeze' : 'Freeze'}
      </MenuItem>
      <MenuItem icon={EyeOff} onSelect={() => setLayout({ ...layout, hidden: toggle(layout.hidden) })}>
        Hide
      </MenuItem>
      <MenuItem icon={ArrowLeft} onSelect={() => shift(-1)}>
        Move left
      </MenuItem>
      <MenuItem icon={ArrowRight} onSelect={() => shift(1)}>
        Move right
      </MenuItem>
      <MenuItem icon={Filter} onSelect={() => open({ kind: 'filters', column: key })}>
        Filter
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
