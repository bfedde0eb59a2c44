import type { ExportPlan } from '../../database/connection/json-columns.ts'
import { plural } from '../../lib/plural.ts'
import type { ColumnSource } from '../store/export-lines.ts'

/** An export that cannot be built, however often it is retried. Its message is shown to the caller. */
export class ExportFailure extends Error {
  override name = 'ExportFailure'
}

/**
 * A column of an export. Values of a number column are numbers in a workbook, even if they are stored as text (D95). Those of
 * a date or boolean column (`as`) are dates and truth values there, where nothing of them is lost.
 */
export type ExportColumn = ColumnSource & {
  header: string
  isNumber?: boolean | undefined
  as?: 'date' | 'boolean' | undefined
}

/** The maximum number of columns: what one PostgreSQL statement can return, with some margin. */
const MAX_COLUMNS = 1600

/**
 * Lists the columns: the inputs, then the outputs of each action along the chain (D61). Known outputs come first in
 * their order, then other outputs found in cells, then the ending of the cells if requested (D82). Repeated headers get
 * a number.
 */
export function listExportColumns(
  plan: ExportPlan,
  found: ReadonlyMap<string, readonly string[]>,
): ExportColumn[] {
  const inputs = plan.inputs.map(({ name, column, isNumber, as }) => ({
    header: name,
    input: column,
    isNumber,
    as,
  }))
  const outputs = plan.actions.flatMap(({ id, name, outputs: known, numbers }, action): ExportColumn[] => [
    ...[...new Set([...known, ...(found.get(id) ?? [])])].map((output) => ({
      header: `${name}: ${output}`,
      action,
      output,
      isNumber: numbers?.includes(output),
    })),
    ...(plan.include ?? []).map((extra) => ({ header: `${name}: ${extra}`, action, extra })),
  ])
  const columns = withUniqueHeaders([...inputs, ...outputs])
  if (columns.length > MAX_COLUMNS) {
    throw new ExportFailure(
      `The sheet has ${plural(columns.length, 'column')}; a file holds at most ${MAX_COLUMNS}. Export fewer inputs and actions`,
    )
  }
  return columns
}

function withUniqueHeaders(columns: ExportColumn[]): ExportColumn[] {
  const taken = new Set<string>()
  return columns.map((column) => {
    let header = column.header
    for (let n = 2; taken.has(header); n += 1) header = `${column.header} (${n})`
    taken.add(header)
    return { ...column, header }
  })
}
