import type { ExportPlan } from '../../database/connection/json-columns.ts'
import { plural } from '../../lib/plural.ts'
import type { ColumnSource } from '../store/export-lines.ts'
import { ExportFailure } from './export-failure.ts'

/** Values of a number are numbers in a workbook, also where they are kept as text (D95). */
export type ExportColumn = ColumnSource & { header: string; isNumber?: boolean | undefined }

/** As many as one statement of PostgreSQL can answer, with some room. */
const MAX_COLUMNS = 1600

/**
 * The inputs, then the outputs of each action along the chain (D61): those that are known in their order, then what else
 * cells hold, then how they ended, where that is wanted (D82). Headers that are there already get a number.
 */
export function columnsOf(plan: ExportPlan, found: ReadonlyMap<string, readonly string[]>): ExportColumn[] {
  const inputs = plan.inputs.map(({ name, column, isNumber }) => ({ header: name, input: column, isNumber }))
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
      `The sheet has ${plural(columns.length, 'column')}; a file holds ${MAX_COLUMNS}. Export fewer inputs and actions`,
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
