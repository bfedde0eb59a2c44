import { completeSettings } from '#contract/views.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { describeShown } from '../../rows/shown-columns.ts'
import { readShownValues } from '../../store/shown-values.ts'
import type { ViewRecord } from '../../store/views.ts'
import { type SelectingRequest, viewChainOf } from './row-selection.ts'

/** Returns the values of the shown columns of a view as JSON, by row. */
export async function writeShown(
  request: SelectingRequest,
  definition: Definition,
  view: ViewRecord | undefined,
  ids: readonly string[],
): Promise<((rowId: string) => string) | undefined> {
  if (view === undefined) return undefined
  const { columns } = completeSettings(view.settings)
  const chain = await viewChainOf(request, definition, { columns })
  const shown = columns.flatMap((column) => describeShown(column, chain) ?? [])
  const sources = shown.map(({ source }) => source)
  const values = await readShownValues(request.db, request.sheet, ids, sources)
  return (rowId) => {
    const texts = values.get(rowId) ?? []
    return `{${shown.map(({ name }, n) => `${JSON.stringify(name)}:${texts[n] ?? 'null'}`).join()}}`
  }
}
