import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { SheetId } from '../../api/calls.ts'
import { isUnavailable } from '../../api/outbox.ts'
import { actionsQuery, inputsQuery } from '../../api/sheet.ts'
import { viewsQuery } from '../../api/views.ts'
import { overviewQuery, type WorkflowOverview } from '../../api/workflows.ts'
import { useTitle } from '../../frame/page.tsx'
import { NotFound, Refusal } from '../../frame/refusal.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ChainStrip } from './chain-strip.tsx'
import { ActiveFilters } from './filters/active-filters.tsx'
import { Grid } from './grid/grid.tsx'
import { useKeptEdits } from './kept-edits.ts'
import { RowStore } from './row-store.ts'
import { SelectionToolbar } from './selection-toolbar.tsx'
import { useSheetAddress } from './sheet-address.ts'
import { SheetDialogs } from './sheet-dialogs.tsx'
import { SheetFoot } from './sheet-foot.tsx'
import { SheetHints } from './sheet-hints.tsx'
import { SheetKeys } from './sheet-keys.ts'
import { SheetTabs } from './sheet-tabs.tsx'
import { SheetContext, useCount, useSheet } from './sheet-view.ts'
import { Toolbar } from './toolbar.tsx'
import { useSheetView } from './use-sheet-view.ts'
import { ViewTabs } from './views/view-tabs.tsx'

const CellPanel = lazy(() => import('./panels/cell-panel.tsx'))
const ActionPanel = lazy(() => import('./panels/action-panel.tsx'))
const NewActionPanel = lazy(() => import('./panels/new-action-panel.tsx'))
const AddAction = lazy(() => import('./panels/add-action.tsx'))
const StatisticsPanel = lazy(() => import('./panels/statistics-panel.tsx'))

export function Screen() {
  const { workflowId, sheetId } = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId' })
  // The key makes each sheet a new screen, so that no state of the previous one stays.
  return <SheetLoader key={sheetId} workflowId={workflowId} sheetId={sheetId} />
}

function SheetLoader(sheet: SheetId) {
  const { workflowId, sheetId } = sheet
  const address = useSheetAddress()
  const [rows] = useState(() => new RowStore(sheet, address.selection, address.sort))
  // The rows are requested together with the definition of the sheet, so that both load in parallel.
  useEffect(() => rows.show(0, 1), [rows])
  const overview = useQuery(overviewQuery(workflowId))
  const inputs = useQuery(inputsQuery(sheet))
  const actions = useQuery(actionsQuery(sheet))
  const views = useQuery(viewsQuery(sheet))
  const queries = [overview, inputs, actions, views]
  const error = queries.find((query) => query.error !== null)?.error ?? null
  const isLoaded = overview.data !== undefined && queries.every(({ data }) => data !== undefined)
  if (error !== null && !isLoaded) {
    const retry = () => queries.forEach((query) => void query.refetch())
    return <Refusal error={error} title="Sheet" onRetry={retry} />
  }
  if (!isLoaded) {
    return (
      <main id="content" className="min-w-0 flex-1">
        <h1 className="sr-only">Sheet</h1>
        <Skeleton lines={12} />
      </main>
    )
  }
  if (!overview.data.sheets.some(({ sheet_id }) => sheet_id === sheetId)) return <NotFound />
  return <Sheet sheet={sheet} overview={overview.data} rows={rows} />
}

function Sheet({ sheet, overview, rows }: { sheet: SheetId; overview: WorkflowOverview; rows: RowStore }) {
  useTitle(overview.name)
  const view = useSheetView(sheet, overview.name, rows)
  return (
    <SheetContext value={view}>
      <SheetDialogs>
        <SheetKeys />
        <main id="content" className="flex min-h-0 min-w-0 flex-1 flex-col">
          <SheetTabs overview={overview} />
          <ViewTabs />
          <Toolbar />
          <ActiveFilters />
          <ChainStrip />
          <div className="relative flex min-h-0 flex-1">
            <Body />
            <Panels />
          </div>
          <SheetFoot />
        </main>
      </SheetDialogs>
    </SheetContext>
  )
}

function Body() {
  const { rows } = useSheet()
  const total = useCount(rows)
  useKeptEdits()
  // While the server is unreachable, loaded rows stay visible and the footer shows the status.
  const showsProblem = rows.problem !== null && !(isUnavailable(rows.problem) && rows.total !== null)
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
      {showsProblem && (
        <div className="p-2">
          <Problem error={rows.problem} onRetry={() => void rows.refresh()} />
        </div>
      )}
      <Grid />
      {total === 0 && <SheetHints />}
      <SelectionToolbar />
    </div>
  )
}

function Panels() {
  const { opened } = useSheet().address
  return (
    <Suspense fallback={null}>
      {opened.row !== null && opened.cell !== null && <CellPanel rowId={opened.row} action={opened.cell} />}
      {opened.action !== null && <ActionPanel key={opened.action} action={opened.action} />}
      {opened.draft !== null && <NewActionPanel key={opened.draft.template} {...opened.draft} />}
      {opened.add && <AddAction />}
      {opened.statistics !== null && (
        <StatisticsPanel key={opened.statistics} columnKey={opened.statistics} />
      )}
    </Suspense>
  )
}
