import { useStore } from 'zustand'
import { sheetCall } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { isFiltered, type Run } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { plural } from '../../../ui/figure.ts'
import { Play, Square } from '../../../ui/icons.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import { chooseSelected } from '../selected-rows.ts'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet, useTotal } from '../sheet-view.ts'
import { countSelected } from '../view-state.ts'

export function RunMenu({ latest }: { latest: Run | undefined }) {
  const view = useSheet()
  const { open } = useSheetDialogs()
  const total = useTotal(view.rows) ?? 0
  const selected = useStore(view.state, ({ selected }) => countSelected(selected, total))
  if (!view.can.run) return null
  const stop = async () => {
    try {
      const { rows_stopped } = await fetchData(sheetCall(view.sheet, 'POST /stop'))
      notify(`${plural(rows_stopped, 'row')} stopped. Running cells may still finish`)
    } catch (error) {
      notifyProblem(error)
    }
    view.refresh()
  }
  const runSelected = () => open({ kind: 'run', choice: chooseSelected(view.state.getState().selected) })
  const item = (
    label: string,
    kind: 'first' | 'filtered' | 'failed' | 'unfinished' | 'all',
    disabled = false,
  ) => (
    <MenuItem disabled={disabled} onSelect={() => open({ kind: 'run', choice: { kind } })}>
      {label}
    </MenuItem>
  )
  return (
    <>
      <Menu
        trigger={
          <Button kind="primary" icon={Play}>
            Run
          </Button>
        }
      >
        {item('First 10 rows', 'first')}
        <MenuItem disabled={selected === 0} onSelect={runSelected}>
          Selected rows
        </MenuItem>
        {item('Filtered rows', 'filtered', !isFiltered(view.address.selection))}
        <MenuSeparator />
        {item('Failed rows', 'failed')}
        {item('Unfinished rows', 'unfinished')}
        {item('All rows', 'all')}
      </Menu>
      <Button icon={Square} iconOnPhone disabled={latest?.state !== 'running'} onClick={() => void stop()}>
        Stop
      </Button>
    </>
  )
}
