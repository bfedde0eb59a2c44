import { Link } from '@tanstack/react-router'
import { ALL_ROWS } from '../../api/selection.ts'
import { isFiltered } from '../../api/sheet.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { useSheetDialogs } from './sheet-dialogs.tsx'
import { useSheet } from './sheet-view.ts'

/** A hint about the next step in a sheet that shows no rows. */
export function SheetHints() {
  const { columns, address, sheet, can } = useSheet()
  const { open } = useSheetDialogs()
  if (isFiltered(address.selection)) {
    return (
      <Hint text="No rows match the filters.">
        <Button kind="primary" onClick={() => address.select(ALL_ROWS)}>
          Show all rows
        </Button>
      </Hint>
    )
  }
  if (!can.edit) return <Hint text="No rows yet." />
  const hasInputs = columns.some(({ kind }) => kind === 'input')
  return (
    <Hint
      text={
        hasInputs
          ? 'No rows yet. Paste from a spreadsheet, import a file, or add a row.'
          : 'Start with your data: paste a table from a spreadsheet, with the input names in its first line. Or add inputs one by one.'
      }
    >
      <Link
        to="/workflows/$workflowId/sheets/$sheetId/import"
        params={sheet}
        className={buttonClass('primary')}
      >
        Import a file
      </Link>
      {!hasInputs && <Button onClick={() => open({ kind: 'add input' })}>Add an input</Button>}
    </Hint>
  )
}

function Hint({ text, children }: { text: string; children?: React.ReactNode }) {
  return (
    <div className="pointer-events-none absolute inset-x-0 top-24 flex flex-col items-center gap-3 px-6 text-center">
      <p className="max-w-[46ch] text-14 text-muted">{text}</p>
      <div className="pointer-events-auto flex gap-2">{children}</div>
    </div>
  )
}
