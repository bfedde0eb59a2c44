import type { KeyboardEvent } from 'react'
import { sheetPath } from '../../api/calls.ts'
import type { WorkflowOverview } from '../../api/workflows.ts'
import { useGo } from '../../frame/go.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { ChevronDown, Plus } from '../../ui/icons.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { useSheet } from './sheet-view.ts'

export function SheetTabs({ overview }: { overview: WorkflowOverview }) {
  const { sheet, can } = useSheet()
  const go = useGo()
  const { open } = useSheetDialogs()
  const here = overview.sheets.find(({ sheet_id }) => sheet_id === sheet.sheetId)
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const at = overview.sheets.findIndex(({ sheet_id }) => sheet_id === sheet.sheetId)
    const next = overview.sheets.at((at + step) % overview.sheets.length)
    if (next !== undefined) go(sheetPath({ ...sheet, sheetId: next.sheet_id }))
  }
  return (
    <header className="flex items-center gap-3 border-b px-3 pt-2 max-md:flex-wrap">
      <h1 className="max-w-[320px] truncate pb-2 text-16 font-semibold" title={overview.name}>
        {overview.name}
      </h1>
      <div className="flex min-w-0 items-center gap-1 self-end overflow-x-auto">
        <div role="tablist" aria-label="Sheets" className="flex gap-1" onKeyDown={onKeyDown}>
          {overview.sheets.map(({ sheet_id, name }) => {
            const isHere = sheet_id === sheet.sheetId
            return (
              <button
                key={sheet_id}
                type="button"
                role="tab"
                aria-selected={isHere}
                tabIndex={isHere ? 0 : -1}
                onClick={() => go(sheetPath({ ...sheet, sheetId: sheet_id }))}
                className={classNames(
                  'max-w-[200px] truncate rounded-t-md border border-b-0 px-3 py-1.5 text-12',
                  isHere ? 'bg-subtle font-medium' : 'border-transparent text-muted hover:bg-hover',
                )}
              >
                {name}
              </button>
            )
          })}
        </div>
        {can.configure && here !== undefined && (
          <Menu
            trigger={
              <Button kind="ghost" size="small" icon={ChevronDown} iconOnly>
                Sheet menu
              </Button>
            }
          >
            <MenuItem onSelect={() => open({ kind: 'sheet settings', tab: here })}>Sheet settings</MenuItem>
            <MenuItem onSelect={() => open({ kind: 'rename sheet', tab: here })}>Rename sheet</MenuItem>
            {!here.is_main_sheet && (
              <>
                <MenuSeparator />
                <MenuItem danger onSelect={() => open({ kind: 'delete sheet', tab: here })}>
                  Delete sheet
                </MenuItem>
              </>
            )}
          </Menu>
        )}
        {can.configure && (
          <Button kind="ghost" size="small" icon={Plus} iconOnly onClick={() => open({ kind: 'add sheet' })}>
            Add sheet
          </Button>
        )}
      </div>
    </header>
  )
}
