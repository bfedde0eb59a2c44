import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { rowPath, sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData, LIVE } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { actionsQuery, inputsQuery } from '../../../api/sheet.ts'
import { isTyping } from '../../../frame/frame.tsx'
import { useGo } from '../../../frame/go.ts'
import { LoadedPage } from '../../../frame/loaded-page.tsx'
import { SheetLink } from '../../../frame/sheet-link.tsx'
import { Button } from '../../../ui/button.tsx'
import { figure } from '../../../ui/figure.ts'
import { ArrowLeft, ArrowRight } from '../../../ui/icons.tsx'
import { buildColumns } from '../columns.ts'
import { RowComments } from '../comments/row-comments.tsx'
import { RowCells } from './row-cells.tsx'
import { RowHistory } from './row-history.tsx'
import { RowInputs } from './row-inputs.tsx'

/** The page of a row: its inputs as a form, its cells with their provenance, comments and history. */
export function Screen() {
  const { workflowId, sheetId, rowId } = useParams({
    from: '/frame/workflows/$workflowId/sheets/$sheetId/rows/$rowId',
  })
  const { view } = useSearch({ from: '/frame/workflows/$workflowId/sheets/$sheetId/rows/$rowId' })
  const sheet = useMemo(() => ({ workflowId, sheetId }), [workflowId, sheetId])
  const query = view === undefined ? {} : { view_id: view }
  const row = useQuery({
    queryKey: keys.sheet(sheetId).rowPage(rowId, query),
    queryFn: ({ signal }) =>
      fetchData(sheetCall(sheet, 'GET /rows/:row_id', { params: { row_id: rowId }, query }), { signal }),
    // While a neighbour loads, the shown row stays.
    placeholderData: (former) => former,
    ...LIVE,
  })
  // The number is that of the shown row, also while a neighbour loads.
  const shownId = row.data?.row_id ?? rowId
  const place = useQuery({
    queryKey: keys.sheet(sheetId).rowPlace(shownId),
    queryFn: ({ signal }) =>
      fetchData(sheetCall(sheet, 'POST /internal/rows/place', { body: { row_id: shownId } }), { signal }),
  })
  const inputs = useQuery(inputsQuery(sheet))
  const actions = useQuery(actionsQuery(sheet))
  const columns = useMemo(
    () => buildColumns(inputs.data ?? [], actions.data ?? []),
    [inputs.data, actions.data],
  )
  const number = place.data?.place
  return (
    <LoadedPage
      title={typeof number === 'number' ? `Row ${figure(number + 1)}` : 'Row'}
      query={row}
      actions={
        <>
          <SheetLink sheet={sheet} />
          <Steps
            sheet={sheet}
            view={view}
            previous={row.data?.previous_row_id ?? null}
            next={row.data?.next_row_id ?? null}
          />
        </>
      }
    >
      {(shown) => (
        <div className="grid items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_360px]">
          <div className="flex min-w-0 flex-col gap-6">
            <RowInputs key={shown.row_id} sheet={sheet} row={shown} columns={columns} />
            <RowCells sheet={sheet} row={shown} columns={columns} />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <RowComments key={shown.row_id} sheet={sheet} rowId={shown.row_id} columns={columns} />
            <RowHistory sheet={sheet} rowId={shown.row_id} />
          </div>
        </div>
      )}
    </LoadedPage>
  )
}

/** The buttons to the neighbours. The left and right arrow keys do the same. */
function Steps({
  sheet,
  view,
  previous,
  next,
}: {
  sheet: SheetId
  view: string | undefined
  previous: string | null
  next: string | null
}) {
  const go = useGo()
  const open = (rowId: string | null) => {
    if (rowId === null) return
    go(`${rowPath(sheet, rowId)}${view === undefined ? '' : `?view=${encodeURIComponent(view)}`}`)
  }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey
      if (!isPlain || event.defaultPrevented || isTyping(event.target) || isOwnArrow(event.target)) return
      if (event.key === 'ArrowLeft') open(previous)
      if (event.key === 'ArrowRight') open(next)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  })
  return (
    <>
      <Button icon={ArrowLeft} disabled={previous === null} onClick={() => open(previous)}>
        Previous row
      </Button>
      <Button icon={ArrowRight} disabled={next === null} onClick={() => open(next)}>
        Next row
      </Button>
    </>
  )
}

/** Tells whether an element uses the arrow keys itself, or a dialog is open above the page. */
function isOwnArrow(target: EventTarget | null): boolean {
  return (
    document.querySelector('[role=dialog], [role=menu]') !== null ||
    (target instanceof HTMLElement && target.closest('[role=tree], [role=tablist], [role=combobox]') !== null)
  )
}
