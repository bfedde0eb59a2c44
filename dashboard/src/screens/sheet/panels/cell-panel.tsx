import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { ApiError, fetchData, send } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import type { CellDetail, Row } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { ArrowDown, ArrowUp } from '../../../ui/icons.tsx'
import { Problem } from '../../../ui/problem.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { notifyProblem } from '../../../ui/toasts.tsx'
import { valueText } from '../cell-text.ts'
import { openNextFailed } from '../next-failed.ts'
import { buildRunCalls, type RunChoice } from '../runs/run-choice.ts'
import { useSheetDialogs } from '../sheet-dialogs.tsx'
import { useSheet } from '../sheet-view.ts'
import { CellState, Failure } from './cell-state.tsx'
import { CellValue, FormerValue, ShownOutput } from './cell-values.tsx'
import { ConditionTable } from './condition-table.tsx'
import { Panel } from './panel.tsx'
import { Provenance } from './provenance.tsx'

/** The panel with everything about one cell: value, error, condition, provenance and the row. */
export default function CellPanel({ rowId, action }: { rowId: string; action: string }) {
  const view = useSheet()
  const { sheet, rows, columns } = view
  const column = columns.find(({ key }) => key === action)
  const name = column?.name ?? action
  const number = useQuery({
    queryKey: keys.sheet(sheet.sheetId).position(rowId, rows.selection, rows.sort),
    queryFn: async () => (await rows.locate(rowId)) ?? null,
  })
  const rowNumber = `row ${typeof number.data === 'number' ? number.data + 1 : '…'}`
  const cell = useQuery({
    queryKey: keys.sheet(sheet.sheetId).cell(rowId, action),
    queryFn: ({ signal }) => readCell(sheet, rowId, action, signal),
  })
  const row = useQuery({
    queryKey: keys.sheet(sheet.sheetId).row(rowId),
    queryFn: async () => {
      const list = sheetCall(sheet, 'POST /rows/list', { body: { row_ids: [rowId] } })
      return (await fetchData(list)).rows[0] ?? null
    },
  })
  const rowName = findRowName(row.data ?? null) ?? rowNumber
  const node = column?.kind === 'action' ? column.node : undefined
  const detail = cell.data
  const step = useRowStep(rowId, action)
  return (
    <Panel
      name={`Cell ${name}, ${rowNumber}`}
      title={<h2 className="truncate text-14 font-semibold">{`${name} · ${rowName}`}</h2>}
      actions={<RowSteps step={step} />}
      onKeyDown={(event) => {
        const by = ARROWS[event.key]
        if (by === undefined || event.defaultPrevented || isTyping(event.target)) return
        event.preventDefault()
        step(by)
      }}
      footer={<Footer rowId={rowId} action={action} />}
    >
      {cell.error !== null && <Problem error={cell.error} onRetry={() => void cell.refetch()} />}
      {detail === undefined && cell.error === null && <Skeleton />}
      {detail !== undefined && (
        <>
          <CellState detail={detail} column={column?.kind === 'action' ? column : undefined} />
          {detail?.error !== undefined && <Failure status={detail.status} error={detail.error} />}
          {detail?.status === 'complete' && <CellValue detail={detail} action={action} />}
          {detail?.previous !== undefined && (
            <FormerValue rowId={rowId} action={action} previous={detail.previous} />
          )}
          {column?.kind === 'action' && detail?.status === 'complete' && (
            <ShownOutput column={column} outputs={detail.outputs} />
          )}
          {node?.run_if !== undefined && row.data && <ConditionTable runIf={node.run_if} row={row.data} />}
          {detail?.provenance !== undefined && <Provenance provenance={detail.provenance} sheet={sheet} />}
          {row.data && <Inputs row={row.data} />}
        </>
      )}
    </Panel>
  )
}

const ARROWS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 }

/** Returns whether an element takes the arrow keys itself. */
const isTyping = (target: EventTarget): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, pre, [contenteditable]')

/** Returns a function that shows the same cell of another row in the panel, and moves the grid along. */
function useRowStep(rowId: string, action: string): (by: number) => void {
  const { rows, address, state, placed } = useSheet()
  const move = async (by: number) => {
    const place = await rows.locate(rowId)
    if (place === null || place + by < 0) return
    const [next] = await rows.range(place + by, place + by)
    if (next === undefined) return
    address.followCell(next.row_id, action)
    const column = placed.findIndex(({ key }) => key === action) + 1
    if (column > 0) state.getState().goTo({ row: place + by, column })
  }
  return (by) => void move(by).catch(notifyProblem)
}

function RowSteps({ step }: { step: (by: number) => void }) {
  return (
    <>
      <Button kind="ghost" icon={ArrowUp} iconOnly onClick={() => step(-1)}>
        Previous row
      </Button>
      <Button kind="ghost" icon={ArrowDown} iconOnly onClick={() => step(1)}>
        Next row
      </Button>
    </>
  )
}

/** Returns the first input of a row that is not blank, as the name of the row. */
function findRowName(row: Row | null): string | undefined {
  return Object.values(row?.inputs ?? {})
    .map(valueText)
    .find((text) => text.trim() !== '')
}

/** Returns the detail of a cell, or null if it was never run: the server responds with 404 then, which is no error here. */
async function readCell(
  sheet: SheetId,
  rowId: string,
  action: string,
  signal: AbortSignal,
): Promise<CellDetail | null> {
  const params = { row_id: rowId, action_instance_id: action }
  try {
    return await fetchData(sheetCall(sheet, 'GET /rows/:row_id/cells/:action_instance_id', { params }), {
      signal,
    })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

function Inputs({ row }: { row: Row }) {
  return (
    <details>
      <summary className="cursor-pointer text-12 font-semibold text-muted">Inputs of the row</summary>
      <dl className="mt-1 grid grid-cols-[120px_1fr] gap-x-3 gap-y-0.5">
        {Object.entries(row.inputs).map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="truncate text-muted">{name}</dt>
            <dd className="min-w-0 break-words">
              {typeof value === 'string' ? value : JSON.stringify(value)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function Footer({ rowId, action }: { rowId: string; action: string }) {
  const view = useSheet()
  const { open } = useSheetDialogs()
  const choice: RunChoice = { kind: 'cell', action, rowId }
  const { run, estimate } = buildRunCalls(view.sheet, choice, view.address.selection)
  const [isBusy, setBusy] = useState(false)
  // A single cell that is free runs without a dialog.
  const rerun = async () => {
    setBusy(true)
    try {
      const { credits } = await fetchData(estimate)
      if (credits.at_most === 0) {
        await send(run)
        view.refresh()
      } else open({ kind: 'run', choice })
    } catch (error) {
      notifyProblem(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {view.can.run && (
        <Button kind="primary" busy={isBusy} onClick={() => void rerun()}>
          Rerun
        </Button>
      )}
      <Button onClick={() => void openNextFailed(view).catch(notifyProblem)}>Next failed</Button>
      <CopyAsCurl call={run} />
      <Button kind="ghost" className="ml-auto" onClick={() => view.address.openAction(action)}>
        Configure
      </Button>
    </>
  )
}
