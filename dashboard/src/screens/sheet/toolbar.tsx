import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { sheetPath } from '../../api/calls.ts'
import { selectionQuery } from '../../api/selection-address.ts'
import { runsQuery } from '../../api/sheet.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { Columns3, Filter, Plus, Redo2, Rows3, Undo2, Zap } from '../../ui/icons.tsx'
import { Menu, MenuCheckbox, MenuItem, MenuLabel, MenuSeparator } from '../../ui/menu.tsx'
import { SearchBox } from '../../ui/text-field.tsx'
import { notifyProblem } from '../../ui/toasts.tsx'
import { ROW_HEIGHTS, TALL } from './columns.ts'
import { addRows } from './row-edits.ts'
import { RunMenu } from './runs/run-menu.tsx'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { useSheet } from './sheet-view.ts'
import { redoNext, undoLast } from './undo.ts'

const LINKS = ['Import', 'Export', 'Schedule', 'Webhook', 'Runs', 'Comments'] as const

export function Toolbar() {
  const view = useSheet()
  const { can, address, sheet } = view
  const { open } = useSheetDialogs()
  const { data: runs } = useQuery(runsQuery(sheet))
  const addRow = async () => {
    const [id] = await addRows(view, [{}])
    if (id === undefined) return
    await view.rows.refresh()
    const last = Math.max(0, (view.rows.total ?? 1) - 1)
    const column = view.placed.findIndex(({ kind }) => kind === 'input') + 1
    view.state.getState().goTo({ row: last, column: Math.max(1, column) })
    view.state.getState().focusActive()
  }
  return (
    <div
      role="toolbar"
      aria-label="Sheet"
      className="flex flex-wrap items-center gap-1.5 border-b px-3 py-1.5 max-md:[&_button]:h-9 xl:flex-nowrap xl:gap-1 2xl:gap-1.5 xl:max-2xl:[&_button]:px-2"
    >
      {can.configure && (
        <Button icon={Plus} iconOnPhone onClick={() => open({ kind: 'add input' })}>
          Add input
        </Button>
      )}
      {can.edit && (
        <Button icon={Rows3} iconOnPhone onClick={() => void addRow().catch(notifyProblem)}>
          Add row
        </Button>
      )}
      {can.editActions && (
        <Button icon={Zap} iconOnPhone onClick={() => address.openAdd()}>
          Add action
        </Button>
      )}
      <RunMenu latest={runs?.[0]} />
      <span aria-hidden className="mx-1 h-5 w-px shrink-0 bg-hairline max-md:hidden" />
      <Button icon={Filter} iconOnPhone onClick={() => open({ kind: 'filters' })}>
        Filters
      </Button>
      <ColumnsMenu />
      <div className="flex min-w-0 items-center gap-1.5 max-md:w-full xl:gap-1">
        <UndoButtons />
        <FindBox />
      </div>
      <nav
        aria-label="Sheet"
        className="ml-auto flex shrink-0 gap-2.5 pl-1 xl:text-12 2xl:text-13 max-md:w-full max-md:justify-between max-md:py-1 2xl:gap-3"
      >
        {LINKS.map((name) => (
          <SheetPageLink
            key={name}
            name={name}
            address={`${sheetPath(sheet)}/${name.toLowerCase()}${name === 'Export' ? selectionQuery(address.selection, address.sort) : ''}`}
          />
        ))}
      </nav>
    </div>
  )
}

/** A link to a page of the sheet. Its address may carry the filters along. */
function SheetPageLink({ name, address }: { name: string; address: string }) {
  const go = useGo()
  return (
    <a
      href={address}
      className="rounded text-muted hover:text-accent-text hover:underline"
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        go(address)
      }}
    >
      {name}
    </a>
  )
}

function ColumnsMenu() {
  const { columns, layout, setLayout } = useSheet()
  return (
    <Menu
      trigger={
        <Button icon={Columns3} iconOnPhone>
          Columns
        </Button>
      }
    >
      {columns.map(({ key, name }) => (
        <MenuCheckbox
          key={key}
          checked={!layout.hidden.includes(key)}
          onChange={(isShown) =>
            setLayout({
              ...layout,
              hidden: isShown ? layout.hidden.filter((one) => one !== key) : [...layout.hidden, key],
            })
          }
        >
          {name}
        </MenuCheckbox>
      ))}
      <MenuSeparator />
      <MenuLabel>Row height</MenuLabel>
      {ROW_HEIGHTS.map((rowHeight) => (
        <MenuItem
          key={rowHeight}
          note={layout.rowHeight === rowHeight ? '✓' : ''}
          onSelect={() => setLayout({ ...layout, rowHeight })}
        >
          {{ 28: 'Compact', 32: 'Normal', [TALL]: 'Tall' }[rowHeight]}
        </MenuItem>
      ))}
    </Menu>
  )
}

function UndoButtons() {
  const view = useSheet()
  const { past, future } = useStore(view.history)
  return (
    <>
      <Button icon={Undo2} iconOnly disabled={past.length === 0} onClick={() => undoLast(view)}>
        Undo
      </Button>
      <Button icon={Redo2} iconOnly disabled={future.length === 0} onClick={() => redoNext(view)}>
        Redo
      </Button>
    </>
  )
}

/** The pause in typing after which the search text is written to the address. */
const PAUSE_MS = 250

function FindBox() {
  const { address } = useSheet()
  const [text, setText] = useState(address.selection.find)
  useEffect(() => {
    if (text === address.selection.find) return
    const timer = setTimeout(() => address.select({ ...address.selection, find: text }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, address])
  return (
    <SearchBox
      label="Find"
      value={text}
      onChange={setText}
      className="w-40! min-w-16 max-md:h-9 max-md:w-auto! max-md:flex-1 xl:shrink"
    />
  )
}
