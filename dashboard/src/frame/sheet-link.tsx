import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { SheetId } from '../api/calls.ts'
import { overviewQuery } from '../api/workflows.ts'
import { buttonClass } from '../ui/button.tsx'
import { ArrowLeft } from '../ui/icons.tsx'

/** A link from a screen of a sheet back to its rows. */
export function SheetLink({ sheet }: { sheet: SheetId }) {
  const { workflowId, sheetId } = sheet
  const overview = useQuery(overviewQuery(workflowId))
  const name = overview.data?.sheets.find(({ sheet_id }) => sheet_id === sheetId)?.name
  return (
    <Link to="/workflows/$workflowId/sheets/$sheetId" params={sheet} className={buttonClass()}>
      <ArrowLeft aria-hidden className="size-3.5" />
      {name === undefined ? 'Back to the rows' : `Rows of ${name}`}
    </Link>
  )
}
