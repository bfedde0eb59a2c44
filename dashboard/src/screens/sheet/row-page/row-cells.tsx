import type { z } from 'zod'
import type { RowDetail } from '#contract/row-history.ts'
import type { SheetId } from '../../../api/calls.ts'
import type { ActionColumn, Column } from '../columns.ts'
import { CellState, Failure } from '../panels/cell-state.tsx'
import { Outputs } from '../panels/cell-values.tsx'
import { Provenance } from '../panels/provenance.tsx'
import { ValueTree } from '../panels/value-view.tsx'

type Row = z.infer<typeof RowDetail>

/** The cells of a row in the order of the chain, with their values, provenance and costs. */
export function RowCells({ sheet, row, columns }: { sheet: SheetId; row: Row; columns: readonly Column[] }) {
  const actions = columns.filter((column) => column.kind === 'action')
  return actions.map((column) => <RowCell key={column.key} sheet={sheet} row={row} column={column} />)
}

function RowCell({ sheet, row, column }: { sheet: SheetId; row: Row; column: ActionColumn }) {
  const detail = row.cells[column.key] ?? null
  return (
    <section aria-label={column.name} className="flex flex-col gap-2 border-t pt-3">
      <h2 className="text-14 font-semibold wrap-anywhere">{column.name}</h2>
      <CellState detail={detail} column={column} />
      {detail?.error !== undefined && <Failure status={detail.status} error={detail.error} />}
      {detail?.status === 'complete' && (
        <Outputs outputs={detail.outputs} large={detail.outputs_ref}>
          {(value) => <ValueTree label={`Values of ${column.name}`} value={value} />}
        </Outputs>
      )}
      {detail?.provenance !== undefined && <Provenance provenance={detail.provenance} sheet={sheet} />}
    </section>
  )
}
