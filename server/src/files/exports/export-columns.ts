import type { ExportPlan, ViewedColumn } from '../../database/connection/json-columns.ts'
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
  const columns = withUniqueHeaders(arrange([...inputs, ...outputs], plan))
  if (columns.length > MAX_COLUMNS) {
    throw new ExportFailure(
      `The sheet has ${plural(columns.length, 'column')}; a file holds at most ${MAX_COLUMNS}. Export fewer inputs and actions`,
    )
  }
  return columns
}

/** Puts the columns into the order of a view, adds those that it shows, and leaves out those that it hides. */
function arrange(columns: readonly ExportColumn[], { view, actions }: ExportPlan): ExportColumn[] {
  if (view === undefined) return [...columns]
  const placeOf = (id: string) => actions.findIndex((action) => action.id === id)
  const isIn = (column: ExportColumn, viewed: ViewedColumn): boolean => {
    if ('column' in viewed) return 'input' in column && column.input === viewed.column
    if (!('action' in column) || column.action !== placeOf(viewed.action)) return false
    return !('output' in viewed) || (isPlain(viewed) && 'output' in column && column.output === viewed.output)
  }
  const listed = view.flatMap((viewed): ExportColumn[] => {
    if (viewed.hidden === true) return []
    const added = toShown(viewed, placeOf)
    // A column that another entry names has its place there.
    const isFirst = (column: ExportColumn) => view.find((one) => isIn(column, one)) === viewed
    return added === undefined ? columns.filter((column) => isIn(column, viewed) && isFirst(column)) : [added]
  })
  const others = columns.filter((column) => !view.some((viewed) => isIn(column, viewed)))
  return [...listed, ...others]
}

/** Tells whether an entry names an output as it is, without a name or a path of its own. */
const isPlain = (viewed: Extract<ViewedColumn, { output: string }>) =>
  viewed.header === undefined && viewed.steps === undefined

/** Returns the column of a value that a view shows. */
function toShown(viewed: ViewedColumn, placeOf: (id: string) => number): ExportColumn | undefined {
  if (!('output' in viewed) || isPlain(viewed)) return undefined
  const { action, output, steps, whole, header } = viewed
  const place = placeOf(action)
  if (place === -1) return undefined
  const path = steps === undefined ? {} : { steps, whole }
  return { header: header ?? `${action}: ${output}`, action: place, output, ...path }
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
