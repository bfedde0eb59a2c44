import type { z } from 'zod'
import type { TestEstimate } from '#contract/cell-tests.ts'
import type { Warning } from '#contract/envelope.ts'
import { listTokens } from '../../catalog/chain/reference-walk.ts'
import { createRowScope } from '../../catalog/chain/row-scope.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { sampleRows } from '../row-sample.ts'
import { listForeseenRows } from '../store/foreseen-cells.ts'
import type { Draft } from './draft.ts'
import { resolveAction } from './resolved-inputs.ts'

type Resolved = Pick<z.infer<typeof TestEstimate>, 'resolved' | 'met' | 'warnings'>

const TOO_LARGE: Warning = {
  field: 'row_id',
  code: 'row_too_large',
  message: 'the inputs of this row are too large to be shown before the test',
  text: 'The inputs of this row are too large to be shown before the test',
}

/** Returns whether an action can have an output of that name, without reading what runs have shown. */
export const knowsOutput = (catalogue: Catalogue) => (actionId: string, name: string) => {
  const template = catalogue.get(actionId)
  return template === undefined || template.dynamic || Object.hasOwn(template.outputs, name)
}

/** Resolves the inputs and the condition of an action on a row, without running it. Large outputs of other actions read as empty. */
export async function resolveOnRow(
  db: Db,
  { sheet, catalogue }: { sheet: SheetRecord; catalogue: Catalogue },
  rowId: string,
  { instance, definition, warnings }: Draft,
): Promise<Resolved> {
  const template = catalogue.get(instance.action_id)
  const { seqs } = await sampleRows(db, sheet, { kind: 'ids', ids: [rowId] }, { whole: 1, some: 1 })
  const tokens = listTokens([instance.inputs, instance.run_if ?? null]).map(({ token }) => token)
  const named = [...new Set(tokens.flatMap((token) => ('action' in token ? [token.action] : [])))]
  const [row] = await listForeseenRows(db, sheet, seqs, named)
  if (template === undefined || row === undefined || row.data === null)
    return { resolved: {}, met: null, warnings: row?.data === null ? [...warnings, TOO_LARGE] : warnings }
  const scope = createRowScope(
    definition,
    { data: row.data, cells: row.cells },
    knowsOutput(catalogue),
    new Map(),
  )
  return { ...resolveAction(template, instance, scope.lookup), warnings }
}
